// Whole runs with both ranks as threads: every benchmark over every transport.
#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kCasesOfPairs[] =
    "case id=e benchmark=empty message_size_bytes=0\n"
    "case id=p1 benchmark=ping_pong message_size_bytes=1\n"
    "case id=p2 benchmark=ping_pong message_size_bytes=300001\n"
    "case id=w1 benchmark=bandwidth message_size_bytes=1 window_size=64\n"
    "case id=w2 benchmark=bandwidth message_size_bytes=300001 window_size=4\n"
    "case id=w3 benchmark=bandwidth message_size_bytes=3000000 window_size=3\n"
    "case id=b1 benchmark=bidirectional_bandwidth message_size_bytes=1 window_size=64\n"
    "case id=b2 benchmark=bidirectional_bandwidth message_size_bytes=300001 window_size=4\n"
    "case id=b3 benchmark=bidirectional_bandwidth message_size_bytes=8000000 window_size=2\n";

void check_all_measured(const Ran& ran) {
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_CONTAINS(last_line(ran.output), R"("type":"footer","status":"ok")");
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
  for (const char* id : {"e", "p1", "p2", "w1", "w2", "w3", "b1", "b2", "b3"}) {
    const std::string block = std::string(R"("type":"block","case":")") + id + '"';
    CHECK_CONTAINS(ran.output, block + R"(,"round":0,)");
  }
  CHECK(count_of(ran.output, R"("phase":"measured")") >= 9);
  CHECK(count_of(ran.output, R"("phase":"warmup")") >
        count_of(ran.output, R"("phase":"measured")"));
}

}  // namespace

TEST(tcp) {
  const Ran ran = run_in_threads("tcp", spec_with(kCasesOfPairs));
  check_all_measured(ran);
  CHECK_EQUAL(count_of(ran.output, R"("type":"verification")"), 8U);
  CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 8U);
}

TEST(what_was_sent_is_told_to_the_byte) {
  const Ran ran = run_in_threads(
      "shm", spec_with("case id=p benchmark=ping_pong message_size_bytes=5\n"
                       "case id=w benchmark=bandwidth message_size_bytes=7 window_size=3\n"
                       "case id=b benchmark=bidirectional_bandwidth message_size_bytes=9 "
                       "window_size=2\n",
                       "budget_ns 1\nmax_burst_operations 2\n"));
  // Three probes and bursts each at most, of at least two operations; and the check, once.
  const std::string footer = last_line(ran.output);
  CHECK_CONTAINS(footer, R"("sent_payload_bytes":{"0>1":)");
  const std::string key = R"("sent_messages":)";
  CHECK(std::stoi(footer.substr(footer.find(key) + key.size())) > 2 + 6 + 4);
  const Ran null = run_in_threads("null", spec_with("case id=p benchmark=ping_pong "
                                                    "message_size_bytes=5\n"));
  CHECK_EQUAL(count_of(null.output, "sent_payload_bytes"), 0U);
}

TEST(shm) {
  const Ran ran = run_in_threads(
      "shm", spec_with(std::string(kCasesOfPairs) +
                       "case id=z1 benchmark=ping_pong message_size_bytes=0\n"
                       "case id=z2 benchmark=bandwidth message_size_bytes=0 window_size=9\n"));
  check_all_measured(ran);
  CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 10U);
}

TEST(null_is_recorded_in_batches) {
  const Ran ran = run_in_threads("null", spec_with(kCasesOfPairs));
  check_all_measured(ran);
  CHECK_EQUAL(count_of(ran.output, R"("type":"verification")"), 0U);
  // In the end, whatever the first probe met: what of an operation is a clock read is a twentieth.
  const Ran many = run_in_threads(
      "null",
      spec_with("case id=p benchmark=ping_pong message_size_bytes=8\n", "budget_ns 200000000\n"));
  const std::string key = "\"operations_per_sample\":";
  const std::string last_block = many.output.substr(many.output.rfind(key) + key.size());
  CHECK(std::stoi(last_block) > 1);
}

TEST(no_case_for_want_of_bytes) {
  const Ran ran =
      run_in_threads("tcp", spec_with("case id=z benchmark=ping_pong message_size_bytes=0\n"
                                      "case id=a benchmark=ping_pong message_size_bytes=8\n"));
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_CONTAINS(ran.output,
                 R"("type":"failure","case":"z","reason":"the tcp transport carries no)");
  CHECK_CONTAINS(ran.output, R"("case":"a","round":0)");
}

TEST(one_refused_option_fails_one_case) {
  const Ran ran = run_in_threads(
      "tcp",
      spec_with("case id=a benchmark=ping_pong message_size_bytes=8\n"
                "case id=b benchmark=ping_pong message_size_bytes=8 congestion_control=no_such\n"
                "case id=c benchmark=ping_pong message_size_bytes=8 colour=blue\n"
                "case id=d benchmark=ping_pong message_size_bytes=8 tcp_nodelay=2\n"
                "case id=e benchmark=ping_pong message_size_bytes=8 send_buffer_bytes=65536\n"));
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 3U);
  CHECK_CONTAINS(ran.output, "cannot set congestion_control to 'no_such'");
  CHECK_CONTAINS(ran.output, "takes no option 'colour'");
  CHECK_EQUAL(count_of(ran.output, R"("type":"endpoint")"), 2U);
  CHECK_CONTAINS(
      ran.output,
      R"("options":{"send_buffer_bytes":65536},"effective":{"send_buffer_bytes":131072)");
  const Ran shm = run_in_threads(
      "shm", spec_with("case id=a benchmark=ping_pong message_size_bytes=8 busy_poll_us=50\n"));
  CHECK_CONTAINS(shm.output, "the shm transport takes no option 'busy_poll_us'");
  CHECK_CONTAINS(last_line(shm.output), R"("status":"ok")");
}

TEST(memory_stays_in_its_bound) {
  const Ran ran = run_in_threads(
      "null", spec_with("case id=a benchmark=empty message_size_bytes=0\n",
                        "budget_ns 20000000\nsample_memory_bytes 4096\nmax_burst_operations "
                        "1000000\nburst_ns 1000000000\n"));
  CHECK_EQUAL(ran.exit_code, kExitOk);
  const std::string key = "\"peak_sample_bytes\":";
  const std::string footer = last_line(ran.output);
  const int peak_bytes = std::stoi(footer.substr(footer.find(key) + key.size()));
  CHECK(peak_bytes > 2048 && peak_bytes <= 4096);
}

TEST(the_first_round_is_completed_whatever_the_budget) {
  const Ran ran = run_in_threads("shm", spec_with(kCasesOfPairs, "budget_ns 0\n"));
  check_all_measured(ran);
  CHECK_CONTAINS(last_line(ran.output), R"("round_count":1,)");
}

TEST(an_unknown_benchmark_is_named) {
  const std::string spec = spec_with("case id=a benchmark=teleport message_size_bytes=8\n");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, run_in_threads("null", spec)), "case a: there is no");
}
