#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"
#include "spec.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr char kCase[] = "case id=a benchmark=ping_pong message_size_bytes=8\n";

std::string complaint_about(const std::string& text) {
  return MESSAGE_OF(UsageError, parse_spec(text));
}

}  // namespace

TEST(reads_every_item) {
  const Spec spec = parse_spec(
      "# a comment\n\nfabriscope-spec 1\nseed 42\nbudget_ns 7\nburst_ns 8\n"
      "max_burst_operations 9\ncase_timeout_ns 2000000\nsample_memory_bytes 8192 # why\nverify 0\n"
      "pool_bytes 12345\n"
      "case id=ab12 benchmark=bandwidth message_size_bytes=1024 window_size=16 tcp_nodelay=0 "
      "congestion_control=reno\n");
  CHECK_EQUAL(spec.seed, 42U);
  CHECK_EQUAL(spec.budget_ns, 7);
  CHECK_EQUAL(spec.burst_ns, 8);
  CHECK_EQUAL(spec.max_burst_operations, 9);
  CHECK_EQUAL(spec.case_timeout_ns, 2000000);
  CHECK_EQUAL(spec.sample_memory_bytes, 8192);
  CHECK_EQUAL(spec.pool_bytes, 12345);
  CHECK(!spec.verify);
  CHECK_EQUAL(spec.cases.size(), 1U);
  CHECK_EQUAL(spec.cases[0].id, "ab12");
  CHECK_EQUAL(spec.cases[0].benchmark, "bandwidth");
  CHECK_EQUAL(spec.cases[0].message_size_bytes, 1024U);
  CHECK_EQUAL(spec.cases[0].window_size, 16U);
  CHECK_EQUAL(spec.cases[0].options.size(), 2U);
  CHECK_EQUAL(spec.cases[0].options.at("tcp_nodelay"), "0");
}

TEST(default_options_are_absent_ones) {
  const Spec spec = parse_spec(
      "fabriscope-spec 1\ncase id=a benchmark=x message_size_bytes=0 send_buffer_bytes=0 "
      "busy_poll_us=0 interface= tcp_nodelay=0\n");
  CHECK_EQUAL(spec.cases[0].options.size(), 1U);
  CHECK_EQUAL(spec.cases[0].options.count("tcp_nodelay"), 1U);
}

TEST(stops_at_the_end_line) {
  CHECK_EQUAL(parse_spec(spec_with(kCase) + "end\nrubbish after it\n").cases.size(), 1U);
}

TEST(names_the_line_and_the_mistake) {
  CHECK_CONTAINS(complaint_about(""), "empty");
  CHECK_CONTAINS(complaint_about("fabriscope-spec 2\n"), "line 1");
  CHECK_CONTAINS(complaint_about("fabriscope-spec 1\n"), "no case");
  CHECK_CONTAINS(complaint_about("fabriscope-spec 1\nspeed 3\n"),
                 "line 2: there is no item 'speed'");
  CHECK_CONTAINS(complaint_about("fabriscope-spec 1\nseed\n"), "takes one value");
  CHECK_CONTAINS(complaint_about("fabriscope-spec 1\nseed 1\nseed 1\n"), "line 3");
  for (const char* number : {"-1", "1.5", "1e9", "x", "", "99999999999999999999", "0x10", "1 2"}) {
    const std::string text = std::string("fabriscope-spec 1\nbudget_ns ") + number + "\n";
    CHECK_CONTAINS(complaint_about(text), "line 2");
  }
}

TEST(names_the_mistake_in_a_case) {
  const auto complaint = [](const std::string& item) {
    return complaint_about("fabriscope-spec 1\ncase " + item + "\n");
  };
  CHECK_CONTAINS(complaint("benchmark=x message_size_bytes=1"), "needs id=");
  CHECK_CONTAINS(complaint("id=a message_size_bytes=1"), "needs benchmark=");
  CHECK_CONTAINS(complaint("id=a benchmark=x"), "needs message_size_bytes=");
  CHECK_CONTAINS(complaint("id=a benchmark=x message_size_bytes=2000000000"), "message_size_bytes");
  CHECK_CONTAINS(complaint("id=a benchmark=x message_size_bytes=1 window_size=0"), "window_size");
  CHECK_CONTAINS(complaint("id=a id=b"), "given twice");
  CHECK_CONTAINS(complaint("id=a nonsense"), "'nonsense' is not key=value");
  CHECK_CONTAINS(complaint_about(spec_with(std::string(kCase) + kCase)), "two cases");
}

TEST(reads_series_of_cases) {
  const Spec spec = parse_spec(
      "fabriscope-spec 1\ncase id=a benchmark=empty message_size_bytes=0\n"
      "cases benchmark=bandwidth points=8x64,1024x16 tcp_nodelay=0 ids=AAAAAAAADx8qPEtd\n"
      "cases tcp_nodelay= datatype=int32 ids=________-_-_-_-_\n");
  CHECK_EQUAL(spec.cases.size(), 5U);
  CHECK_EQUAL(spec.cases[1].id, "000000000000");
  CHECK_EQUAL(spec.cases[2].id, "0f1f2a3c4b5d");
  CHECK_EQUAL(spec.cases[3].id, "ffffffffffff");
  CHECK_EQUAL(spec.cases[4].id, "fbffbffbffbf");
  CHECK_EQUAL(spec.cases[2].benchmark, "bandwidth");
  CHECK_EQUAL(spec.cases[2].message_size_bytes, 1024U);
  CHECK_EQUAL(spec.cases[2].window_size, 16U);
  CHECK_EQUAL(spec.cases[2].options.at("tcp_nodelay"), "0");
  CHECK_EQUAL(spec.cases[4].window_size, 16U);
  CHECK_EQUAL(spec.cases[4].options.size(), 1U);
  CHECK_EQUAL(spec.cases[4].options.at("datatype"), "int32");
}

TEST(names_the_mistake_in_a_series) {
  const auto complaint = [](const std::string& item) {
    return complaint_about("fabriscope-spec 1\ncases " + item + "\n");
  };
  CHECK_CONTAINS(complaint("benchmark=x ids=AAAAAAAA"), "line 2: there are 0 points");
  CHECK_CONTAINS(complaint("benchmark=x points=8x1,9x1 ids=AAAAAAAA"), "2 points, and 8 letters");
  CHECK_CONTAINS(complaint("benchmark=x points=8 ids=AAAAAAAA"), "'8' is not SIZExWINDOW");
  CHECK_CONTAINS(complaint("benchmark=x points=8x1 ids=AAAA=AAA"), "is no packed id");
  CHECK_CONTAINS(complaint("benchmark=x points=8x0 ids=AAAAAAAA"), "window_size");
  CHECK_CONTAINS(complaint("points=8x1 ids=AAAAAAAA"), "needs benchmark=");
  CHECK_CONTAINS(complaint("benchmark=x points=8x1,9x1 ids=AAAAAAAAAAAAAAAA"), "two cases");
}
