// A bystander of an incast: ranks 0 and 1 beside rank 2 and its senders.
#include <string>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kVictimCases[] =
    "case id=on benchmark=victim_latency message_size_bytes=8 congestion=incast "
    "incast_size_bytes=20000\n"
    "case id=off benchmark=victim_latency message_size_bytes=8 congestion=none "
    "incast_size_bytes=20000\n"
    "case id=wide benchmark=victim_bandwidth message_size_bytes=3000 window_size=7 "
    "congestion=incast\n"
    "case id=p benchmark=ping_pong message_size_bytes=8\n";

}  // namespace

TEST(a_pair_is_measured_with_and_without_the_incast_beside_it) {
  for (const char* transport : {"shm", "tcp"}) {
    for (const int rank_count : {4, 6}) {
      const Ran ran = run_in_threads(transport, spec_with(kVictimCases), rank_count);
      CHECK_EQUAL(ran.exit_code, kExitOk);
      CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
      CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
      CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 4U);
      for (const char* id : {"on", "off", "wide", "p"}) {
        CHECK(count_of(ran.output, std::string(R"({"type":"block","case":")") + id + '"') > 0);
      }
      // Only rank 0 is timed.
      CHECK_EQUAL(count_of(ran.output, "rank_block"), 0U);
    }
  }
}

TEST(each_sender_of_the_incast_sent_whole_windows_and_none_without_it) {
  const std::string line = "case id=on benchmark=victim_latency message_size_bytes=8 congestion=";
  const Ran with = run_in_threads("tcp", spec_with(line + "incast incast_size_bytes=20000\n"), 5);
  const Ran without = run_in_threads("tcp", spec_with(line + "none\n"), 5);
  for (const char* ranks : {"3>2", "4>2"}) {
    // A message of 8 bytes each way is the check of the payload.
    const std::int64_t bytes = sent_bytes(with.output, ranks) - sent_bytes(without.output, ranks);
    CHECK(bytes >= 4 * 20000);
    CHECK_EQUAL(bytes % (4 * 20000), 0);
  }
  CHECK_EQUAL(sent_bytes(without.output, "3>2"), sent_bytes(without.output, "2>3"));
}

TEST(a_victim_has_a_traffic_class_of_its_own) {
  const Ran ran = run_in_threads(
      "tcp",
      spec_with("case id=v benchmark=victim_latency message_size_bytes=8 traffic_class=96 "
                "victim_traffic_class=160\n"),
      5);
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_EQUAL(count_of(ran.output, R"("type":"endpoint")"), 4U);
  // As it was asked for, and as the kernel says it of both ends of each connection.
  CHECK_EQUAL(count_of(ran.output, R"("traffic_class":160})"), 3U);
  CHECK_EQUAL(count_of(ran.output, R"("traffic_class":96})"), 9U);
}

TEST(what_it_cannot_be_told_fails_its_case_alone) {
  const Ran bad = run_in_threads(
      "tcp",
      spec_with("case id=m benchmark=victim_latency message_size_bytes=8 congestion=often\n"
                "case id=z benchmark=victim_latency message_size_bytes=8 incast_size_bytes=x\n"
                "case id=p benchmark=ping_pong message_size_bytes=8\n"),
      4);
  CHECK_EQUAL(bad.exit_code, kExitOk);
  CHECK_EQUAL(count_of(bad.output, R"("type":"failure")"), 2U);
  CHECK_CONTAINS(bad.output, "congestion is 'often', not incast or none");
  CHECK_CONTAINS(bad.output, "incast_size_bytes is 'x', not 1 to 16777216");
  const Ran few = run_in_threads("tcp", spec_with(kVictimCases), 3);
  CHECK_CONTAINS(few.output, "it takes 4 ranks or more, and this run has 3");
}
