// The verbs transport without a device: what it says where something is missing or asked wrongly.
#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"
#include "verbs/device.h"
#include "verbs/options.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

std::string refusal(const OptionSet& asked) {
  try {
    parse_verbs_options(asked, {});
  } catch (const CaseError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST(verbs_options_are_parsed_over_the_ranks_own) {
  VerbsOptions own;
  own.device = "rxe0";
  own.gid_index = 1;
  const VerbsOptions options = parse_verbs_options({{"gid_index", "3"},
                                                    {"completion", "event"},
                                                    {"queue_depth", "16"},
                                                    {"ack_timeout", "0"},
                                                    {"path_mtu_bytes", "2048"},
                                                    {"inline_limit", "0"},
                                                    {"hca_port", ""}},
                                                   own);
  CHECK_EQUAL(options.device, "rxe0");
  CHECK_EQUAL(options.gid_index.value(), 3);
  CHECK(!options.hca_port);
  CHECK(options.by_event);
  CHECK(!options.by_manager);
  CHECK_EQUAL(options.path_mtu_bytes.value(), 2048);
  CHECK_EQUAL(options.inline_limit, 0);
  CHECK_EQUAL(options.ack_timeout.value(), 0);
  CHECK_EQUAL(options.signal_every, 8);  // or a full queue would never tell that it has room
}

TEST(verbs_options_that_cannot_be) {
  CHECK_CONTAINS(refusal({{"mtu", "1024"}}),
                 "takes no option 'mtu'; known are: ack_timeout, completion, ");
  CHECK_CONTAINS(refusal({{"completion", "magic"}}), "not one of polling, event");
  CHECK_CONTAINS(refusal({{"path_mtu_bytes", "1500"}}), "not one of 256, 512, 1024, 2048, 4096");
  CHECK_CONTAINS(refusal({{"service_level", "16"}}), "service_level");
  CHECK_CONTAINS(refusal({{"queue_depth", "many"}}), "queue_depth");
  CHECK_CONTAINS(refusal({{"ack_timeout", "32"}}), "ack_timeout");
}

TEST(a_tcp_transport_cannot_work_on_the_peers_memory) {
  const Ran ran =
      run_in_threads("tcp", spec_with("case id=w benchmark=write_latency message_size_bytes=8\n"
                                      "case id=p benchmark=ping_pong message_size_bytes=8\n"));
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_CONTAINS(ran.output, "this transport cannot work on the peer's memory");
  CHECK_CONTAINS(ran.output, R"({"type":"verification","case":"p","ok":true})");
}

#ifdef FABRISCOPE_WITH_VERBS

namespace {

std::string load_failure(const std::string& file) {
  try {
    VerbsLibrary::load(file);
  } catch (const CaseError& error) {
    return error.what();
  }
  return "loaded";
}

}  // namespace

TEST(a_library_that_is_not_there_or_not_the_right_one) {
  const std::string missing = load_failure("libfabriscope-nosuch.so.1");
  CHECK_CONTAINS(missing, "the verbs transport needs libfabriscope-nosuch.so.1");
  CHECK_CONTAINS(missing, "package libibverbs1");
  CHECK_EQUAL(load_failure("libc.so.6"), "libc.so.6 has no ibv_get_device_list");
}

TEST(a_device_that_is_not_there_fails_its_case_alone) {
  const Ran ran = run_in_threads(
      "verbs", spec_with("case id=d benchmark=ping_pong message_size_bytes=8 device=nosuch9\n"
                         "case id=o benchmark=ping_pong message_size_bytes=8 nonsense=1\n"));
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 2U);
  CHECK_CONTAINS(ran.output, "the verbs transport takes no option 'nonsense'");
}

TEST(the_gid_is_chosen_by_type_and_address) {
  const std::vector<GidEntry> gids{{0, "IB/RoCE v1", "eth0", false},
                                   {1, "RoCE v2", "eth0", false},
                                   {2, "IB/RoCE v1", "eth0", true},
                                   {3, "RoCE v2", "eth0", true},
                                   {4, "RoCE v2", "eth0.7", true}};
  CHECK_EQUAL(choose_gid(gids, "", "here").index, 3);
  CHECK_EQUAL(choose_gid(gids, "eth0.7", "here").index, 4);
  CHECK_EQUAL(choose_gid({gids[0], gids[1]}, "eth0", "here").index, 1);
  CHECK_EQUAL(choose_gid({gids[0], gids[2]}, "", "here").index, 2);
  std::string reason;
  try {
    choose_gid(gids, "eth9", "port 1 of rxe0");
  } catch (const CaseError& error) {
    reason = error.what();
  }
  CHECK_CONTAINS(reason, "port 1 of rxe0 has no GID of eth9");
}

#endif
