// Many to one for a fixed time: what arrived of each stream, and when.
#include <cstdint>
#include <sstream>
#include <string>
#include <vector>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kManyToOneCases[] =
    "case id=s benchmark=many_to_one message_size_bytes=30000 window_size=3 duration_ms=35\n"
    "case id=r benchmark=many_to_one message_size_bytes=5000 duration_ms=20 mode=rounds\n"
    "case id=p benchmark=ping_pong message_size_bytes=8\n";

// The numbers of a member that is an array, of every line that has it and this text.
std::vector<std::vector<std::int64_t>> arrays_of(const std::string& output, const std::string& text,
                                                 const std::string& member) {
  std::vector<std::vector<std::int64_t>> found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find("\"" + member + "\":[");
    if (at == std::string::npos || line.find(text) == std::string::npos) continue;
    std::istringstream numbers(line.substr(line.find('[', at) + 1));
    std::vector<std::int64_t> values;
    for (std::int64_t value = 0; numbers >> value; numbers.ignore(1)) values.push_back(value);
    found.push_back(values);
  }
  return found;
}

// Whether a stream three times as long as a case may stand still was measured to its end.
bool outlasts_the_patience(const std::string& mode, int patience_ms) {
  const std::string one = "case id=s benchmark=many_to_one message_size_bytes=3000 duration_ms=" +
                          std::to_string(3 * patience_ms) + " mode=" + mode + "\n";
  const std::string items =
      "budget_ns 20000000\ncase_timeout_ns " + std::to_string(patience_ms) + "000000\n";
  const Ran ran = run_in_threads("tcp", spec_with(one, items), 3);
  return ran.exit_code == kExitOk && count_of(ran.output, R"("type":"failure")") == 0;
}

}  // namespace

TEST(each_stream_has_its_bytes_by_intervals) {
  for (const char* transport : {"shm", "tcp"}) {
    const Ran ran = run_in_threads(transport, spec_with(kManyToOneCases), 4);
    CHECK_EQUAL(ran.exit_code, kExitOk);
    CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
    CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
    const auto of_free = arrays_of(ran.output, R"("stream_block","case":"s")", "arrived_bytes");
    CHECK(!of_free.empty());
    CHECK_EQUAL(of_free.size() % 3, 0U);
    for (const auto& bytes : of_free) {
      CHECK_EQUAL(bytes.size(), 5U);  // 35 ms are four intervals; then what came after them
      std::int64_t sum = 0;
      for (const std::int64_t count : bytes) sum += count;
      CHECK_EQUAL(sum % 30000, 0);  // whole messages, wherever they were cut
      CHECK(sum >= 30000);
    }
    CHECK(!arrays_of(ran.output, R"("stream_block","case":"r")", "arrived_bytes").empty());
    const std::string sees_parts = std::string(transport) == "tcp" ? "1" : "0";
    const std::string details = R"("details":{"duration_ns":35000000,"interval_ns":10000000,)"
                                R"("sees_parts":)" +
                                sees_parts + "}";
    CHECK_EQUAL(count_of(ran.output, details), 2 * of_free.size() / 3);
  }
}

TEST(streams_that_last_longer_than_a_case_may_stand_still_come_further_all_the_while) {
  for (const char* mode : {"streams", "rounds"}) {
    bool has_outlasted = false;  // a machine that does something else for 0.4 s gets more patience
    for (int patience_ms = 400; !has_outlasted && patience_ms < 10'000; patience_ms *= 4) {
      has_outlasted = outlasts_the_patience(mode, patience_ms);
    }
    CHECK(has_outlasted);
  }
}

TEST(a_stream_that_stands_still_is_noticed) {
  const TemporaryFolder folder;
  const std::string spec =
      spec_with("case id=s benchmark=many_to_one message_size_bytes=3000 duration_ms=1500\n",
                "budget_ns 20000000\ncase_timeout_ns 500000000\n");
  Process process(
      folder, "run",
      {"--transport", "hanging", "--rendezvous", "threads", "--spec", folder.write("spec", spec)});
  CHECK_EQUAL(process.wait(), kExitWatchdog);
  CHECK_CONTAINS(process.output(), R"("failure","case":"s","reason":"no progress for)");
}

TEST(what_was_sent_is_counted_to_the_byte) {
  const Ran ran = run_in_threads(
      "tcp", spec_with("case id=s benchmark=many_to_one message_size_bytes=30000 duration_ms=20\n"),
      3);
  const auto all = arrays_of(ran.output, R"("stream_block")", "arrived_bytes");
  std::int64_t arrived = 0;
  for (const auto& bytes : all) {
    for (const std::int64_t count : bytes) arrived += count;
  }
  std::int64_t sent = 0;
  for (const char* pair : {R"("1>0":)", R"("2>0":)"}) {
    const std::size_t at = ran.output.find(pair);
    CHECK(at != std::string::npos);
    sent += std::stoll(ran.output.substr(at + 6));
  }
  CHECK_EQUAL(sent % 30000, 0);
  CHECK_EQUAL(arrived % 30000, 0);
  CHECK(sent > arrived);  // by the check of the payload, and by what was warm-up
}

TEST(what_it_cannot_be_told_fails_the_case_alone) {
  const Ran null = run_in_threads("null", spec_with(kManyToOneCases), 3);
  CHECK_CONTAINS(null.output, "carries no payload, which 'many_to_one' goes by");
  const Ran bad = run_in_threads(
      "tcp",
      spec_with("case id=m benchmark=many_to_one message_size_bytes=8 mode=often\n"
                "case id=d benchmark=many_to_one message_size_bytes=8 duration_ms=0\n"
                "case id=p benchmark=ping_pong message_size_bytes=8\n"),
      3);
  CHECK_EQUAL(bad.exit_code, kExitOk);
  CHECK_EQUAL(count_of(bad.output, R"("type":"failure")"), 2U);
  CHECK_CONTAINS(bad.output, "mode is 'often', not streams or rounds");
}

TEST(many_to_many_is_told_by_rank_0_of_all_receivers) {
  constexpr char kToTwo[] =
      "case id=s benchmark=many_to_many receivers=2 message_size_bytes=3000 duration_ms=20\n"
      "case id=r benchmark=many_to_many receivers=2 message_size_bytes=500 duration_ms=20 "
      "mode=rounds\n"
      "case id=o benchmark=many_to_one message_size_bytes=3000 duration_ms=10\n"
      "case id=p benchmark=ping_pong message_size_bytes=8\n";
  for (const char* transport : {"shm", "tcp"}) {
    const Ran ran = run_in_threads(transport, spec_with(kToTwo), 6);
    CHECK_EQUAL(ran.exit_code, kExitOk);
    CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
    CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
    for (const char* mine : {R"("stream_block","case":"s")", R"("stream_block","case":"r")"}) {
      const auto streams = arrays_of(ran.output, mine, "arrived_bytes");
      CHECK(!streams.empty());
      CHECK_EQUAL(streams.size() % 4, 0U);
      for (const auto& bytes : streams) CHECK(bytes[0] + bytes[1] + bytes[2] > 0);
    }
    for (const char* pair : {R"("2>0":)", R"("3>0":)", R"("4>1":)", R"("5>1":)"}) {
      CHECK_CONTAINS(ran.output, pair);
    }
    CHECK_EQUAL(count_of(ran.output, R"("2>1":)"), 0U);
    CHECK(count_of(ran.output, R"("measured","rank":5,"arrived_bytes")") > 0);
  }
}

TEST(receivers_that_cannot_be_fail_the_case_alone) {
  const Ran ran =
      run_in_threads("tcp",
                     spec_with("case id=a benchmark=many_to_many receivers=2 message_size_bytes=8\n"
                               "case id=b benchmark=many_to_many receivers=0 message_size_bytes=8\n"
                               "case id=c benchmark=many_to_many receivers=4 message_size_bytes=8\n"
                               "case id=d benchmark=incast receivers=2 message_size_bytes=8\n"
                               "case id=p benchmark=ping_pong message_size_bytes=8\n"),
                     5);
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 4U);
  CHECK_CONTAINS(ran.output, "receivers is 2, and of 5 ranks each of them cannot have as many");
  CHECK_CONTAINS(ran.output, "receivers is '0', not 1 or more");
}
