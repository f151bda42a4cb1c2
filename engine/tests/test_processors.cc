// Ranks that are told on which processors they run.
#include <atomic>
#include <thread>

#include "check.h"
#include "fabriscope/error.h"
#include "fabriscope/rendezvous.h"
#include "helpers.h"
#include "processors.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kBoundCase[] = "case id=a benchmark=ping_pong message_size_bytes=8\n";

std::string first_of(const std::string& list) { return list.substr(0, list.find_first_of(",-")); }

}  // namespace

TEST(reads_a_list_for_each_rank) {
  const std::vector<std::string> found = parse_rank_processors("0/1-2,4/8191");
  CHECK_EQUAL(found.size(), 3U);
  CHECK_EQUAL(found[1], "1-2,4");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_rank_processors("")), "for each rank");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_rank_processors("0//1")), "nothing for rank 1");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_rank_processors("0/x")), "'x'");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_rank_processors("0/8192")), "8192");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_rank_processors("3-1")), "'3-1' names no processors");
}

TEST(a_thread_is_confined_and_another_one_is_not) {
  const std::string all = allowed_processors();
  const std::string one = first_of(all);
  std::string inside;
  std::thread([&] {
    confine_to(one);
    inside = allowed_processors();
  }).join();
  CHECK_EQUAL(inside, one);
  CHECK_EQUAL(allowed_processors(), all);
}

TEST(what_the_host_does_not_have_is_told) {
  std::thread([] {
    const std::string one = first_of(allowed_processors());
    CHECK_CONTAINS(MESSAGE_OF(CaseError, confine_to("8191")), "cannot run on processor 8191 of");
    const std::string some = one + ",8191";
    CHECK_CONTAINS(MESSAGE_OF(CaseError, confine_to(some)), "which lets it use");
  }).join();
}

TEST(each_rank_says_where_it_runs) {
  const TemporaryFolder folder;
  const std::string spec = folder.write("spec", spec_with(kBoundCase));
  const std::string one = first_of(allowed_processors());
  const std::string both = one + "/" + one;
  Process engine(
      folder, "engine",
      {"--transport", "null", "--rendezvous", "threads", "--processors", both, "--spec", spec});
  CHECK_EQUAL(engine.wait(), 0);
  CHECK_EQUAL(count_of(engine.output(), "\"processors\":\"" + one + "\""), 2U);
}

TEST(a_rank_without_its_processor_ends_the_run_with_the_reason) {
  const TemporaryFolder folder;
  const std::string spec = folder.write("spec", spec_with(kBoundCase));
  const std::string lists = first_of(allowed_processors()) + "/8191";
  std::vector<std::string> first = listening_rank("tcp", spec);
  first.insert(first.end(), {"--processors", lists});
  Process zero(folder, "zero", first);
  std::vector<std::string> second = connecting_rank("tcp", zero.tcp_port());
  second.insert(second.end(), {"--processors", lists});
  Process one(folder, "one", second);
  CHECK_EQUAL(zero.wait(), 1);
  CHECK_EQUAL(one.wait(), 1);
  CHECK_CONTAINS(zero.output(), "rank 1: it cannot run on processor 8191");
  CHECK_CONTAINS(last_line(zero.output()), "\"status\":\"failed\"");
}

TEST(a_rank_may_run_elsewhere_where_that_is_allowed) {
  const TemporaryFolder folder;
  const std::string spec = folder.write("spec", spec_with(kBoundCase));
  const std::string one = first_of(allowed_processors());
  Process engine(folder, "engine",
                 {"--transport", "null", "--rendezvous", "threads", "--processors-if-allowed",
                  one + "/8191", "--spec", spec});
  CHECK_EQUAL(engine.wait(), 0);
  CHECK_EQUAL(count_of(engine.output(), "\"processors\":\"" + one + "\""), 1U);
  CHECK_EQUAL(count_of(engine.output(), "\"processors\":\"" + allowed_processors() + "\""),
              one == allowed_processors() ? 2U : 1U);
}

TEST(there_is_a_list_for_each_rank) {
  const TemporaryFolder folder;
  const std::string spec = folder.write("spec", spec_with(kBoundCase));
  Process engine(
      folder, "engine",
      {"--transport", "null", "--rendezvous", "threads", "--processors", "0", "--spec", spec});
  CHECK_EQUAL(engine.wait(), 2);
  CHECK_CONTAINS(engine.errors(), "for each of 2 ranks, and has 1");
}

TEST(ranks_that_share_a_processor_know_it) {
  const auto kind = rendezvous_registry().create("threads");
  Settings settings;
  settings.rendezvous = "threads";
  settings.rank_count = 4;
  std::atomic<int> crowded{0};
  const std::string one = first_of(allowed_processors());
  kind->run(settings, [&](Rendezvous& rendezvous) {
    confine_to(one);
    CHECK(is_crowded(rendezvous, "here"));
    CHECK(!is_crowded(rendezvous, std::to_string(rendezvous.rank())));  // each on its own machine
    CHECK_EQUAL(is_crowded(rendezvous, rendezvous.rank() < 3 ? "here" : "there"),
                rendezvous.rank() < 3);
    ++crowded;
    return 0;
  });
  CHECK_EQUAL(crowded.load(), 4);
}

// Nine streams of ranks that have one processor together: all of them are sent.
TEST(a_crowd_begins_at_its_instant) {
  const TemporaryFolder folder;
  const std::string one = first_of(allowed_processors());
  std::string lists = one;
  for (int rank = 1; rank < 10; ++rank) lists += "/" + one;
  const std::string cases =
      "case id=s benchmark=many_to_one message_size_bytes=1000 window_size=1 duration_ms=5\n"
      "case id=r benchmark=many_to_one message_size_bytes=1000 duration_ms=5 mode=rounds\n";
  for (const char* transport : {"shm", "tcp"}) {
    const std::string spec = folder.write(std::string("spec-") + transport, spec_with(cases));
    Process engine(folder, std::string("engine-") + transport,
                   {"--transport", transport, "--rendezvous", "threads", "--rank-count", "10",
                    "--processors", lists, "--spec", spec});
    CHECK_EQUAL(engine.wait(60), 0);
    CHECK_EQUAL(count_of(engine.output(), R"("type":"failure")"), 0U);
    CHECK(count_of(engine.output(), R"("stream_block","case":"s")") >= 9);
    CHECK_EQUAL(count_of(engine.output(), R"("stream_block","case":"s")") % 9, 0U);
    CHECK(count_of(engine.output(), R"("measured","rank":9,"start_offsets_ns")") >= 2);
  }
}
