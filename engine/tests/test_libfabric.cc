// The libfabric transport over the providers that every machine has, and what it says where
// something is missing or asked wrongly.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"
#include "libfabric/library.h"
#include "libfabric/options.h"

using namespace fabriscope;
using namespace fabriscope::test;

TEST(libfabric_options) {
  const LibfabricOptions options =
      parse_libfabric_options({{"provider", "shm"}, {"registration", "always"}});
  CHECK_EQUAL(options.provider, "shm");
  CHECK(options.registers_always);
  CHECK_EQUAL(parse_libfabric_options({{"provider", ""}}).provider, "tcp");
  CHECK_CONTAINS(MESSAGE_OF(CaseError, parse_libfabric_options({{"provder", "tcp"}})),
                 "takes no option 'provder'; known are: provider, registration");
  CHECK_CONTAINS(MESSAGE_OF(CaseError, parse_libfabric_options({{"registration", "never"}})),
                 "not one of as-needed, always");
}

#ifdef FABRISCOPE_WITH_LIBFABRIC

namespace {

bool is_missing() {
  try {
    LibfabricLibrary::get();
    return false;
  } catch (const CaseError& error) {
    std::printf("skipped: %s\n", error.what());
    return true;
  }
}

// Two processes, as the library's own threads and its shared memory are meant for.
struct LibfabricPair {
  explicit LibfabricPair(const std::string& cases,
                         const std::string& items = "budget_ns 20000000\n")
      : rank0(folder, "rank0",
              listening_rank("libfabric", folder.write("spec", spec_with(cases, items)))),
        rank1(folder, "rank1", connecting_rank("libfabric", rank0.tcp_port())) {}

  TemporaryFolder folder;
  Process rank0;
  Process rank1;
};

std::string all_benchmarks(const std::string& options) {
  std::string cases;
  for (const char* name : {"ping_pong", "bandwidth", "bidirectional_bandwidth", "message_rate"}) {
    for (const char* size : {"0", "1", "4096", "1048576"}) {
      cases += std::string("case id=") + name + size + " benchmark=" + name +
               " message_size_bytes=" + size + " window_size=4 " + options + "\n";
    }
  }
  return cases;
}

}  // namespace

TEST(messages_over_libfabric_arrive_as_they_were_sent) {
  if (is_missing()) return;
  for (const char* options : {"provider=tcp", "provider=tcp registration=always", "provider=shm",
                              "provider=shm registration=always"}) {
    LibfabricPair pair(all_benchmarks(options));
    CHECK_EQUAL(pair.rank0.wait(60), kExitOk);
    CHECK_EQUAL(pair.rank1.wait(60), kExitOk);
    const std::string output = pair.rank0.output();
    CHECK_EQUAL(count_of(output, R"("ok":true})"), 16U);
    CHECK_EQUAL(count_of(output, R"("type":"failure")"), 0U);
    CHECK_CONTAINS(output, R"("library_version":"libfabric )");
    CHECK_CONTAINS(last_line(output), R"("sent_payload_bytes":{"0>1":)");
  }
}

TEST(what_libfabric_cannot_do_fails_its_case_alone) {
  if (is_missing()) return;
  LibfabricPair pair(
      "case id=p benchmark=ping_pong message_size_bytes=8 provider=nosuch\n"
      "case id=o benchmark=ping_pong message_size_bytes=8 domain=lo\n"
      "case id=w benchmark=write_latency message_size_bytes=8\n"
      "case id=g benchmark=ping_pong message_size_bytes=8\n");
  CHECK_EQUAL(pair.rank0.wait(), kExitOk);
  const std::string output = pair.rank0.output();
  CHECK_EQUAL(count_of(output, R"("type":"failure")"), 3U);
  CHECK_CONTAINS(output, "libfabric's provider 'nosuch' offers no reliable datagrams");
  CHECK_CONTAINS(output, "`fi_info -p nosuch -t FI_EP_RDM`");
  CHECK_CONTAINS(output, "the libfabric transport takes no option 'domain'");
  CHECK_CONTAINS(output, R"({"type":"verification","case":"g","ok":true})");
}

TEST(a_run_over_libfabric_that_is_interrupted_ends_with_its_footer) {
  if (is_missing()) return;
  LibfabricPair pair("case id=p benchmark=ping_pong message_size_bytes=8\n",
                     "budget_ns 60000000000\n");
  CHECK(pair.rank0.wrote(R"("type":"block")"));
  pair.rank0.signal(SIGTERM);
  CHECK_EQUAL(pair.rank0.wait(), 128 + SIGTERM);
  CHECK_CONTAINS(last_line(pair.rank0.output()), R"("status":"interrupted")");
}

TEST(a_rank_over_libfabric_that_is_killed_is_noticed) {
  if (is_missing()) return;
  LibfabricPair pair("case id=p benchmark=ping_pong message_size_bytes=8\n",
                     "budget_ns 60000000000\n");
  CHECK(pair.rank0.wrote(R"("type":"block")"));
  pair.rank1.signal(SIGKILL);
  const int status = pair.rank0.wait();
  CHECK(status == kExitFailure || status == kExitWatchdog);
}

TEST(a_libfabric_that_is_not_there_or_not_the_right_one) {
  const auto load_failure = [](const std::string& file) {
    return MESSAGE_OF(CaseError, LibfabricLibrary::load(file));
  };
  const std::string missing = load_failure("libfabriscope-nosuch.so.1");
  CHECK_CONTAINS(missing, "the libfabric transport needs libfabriscope-nosuch.so.1");
  CHECK_CONTAINS(missing, "package libfabric1");
  CHECK_EQUAL(load_failure("libc.so.6"), "libc.so.6 has no fi_getinfo");
}

TEST(the_list_says_why_the_library_cannot_be_loaded) {
  const TemporaryFolder folder;
  folder.write("libfabric.so.1", "no library");
  ::setenv("LD_LIBRARY_PATH", folder.path("").c_str(), 1);
  Process process(folder, "list", {"--list"});
  ::unsetenv("LD_LIBRARY_PATH");
  CHECK_EQUAL(process.wait(), kExitOk);
  CHECK_CONTAINS(process.output(),
                 R"({"name":"libfabric","available":true,"missing_library":"the libfabric)");
  CHECK_CONTAINS(process.output(), "(package libfabric1)");
}

#else

TEST(an_engine_without_libfabric_says_how_it_was_built) {
  CHECK_CONTAINS(MESSAGE_OF(UsageError, transport_registry().find("libfabric")),
                 "FABRISCOPE_LIBFABRIC=OFF");
}

#endif
