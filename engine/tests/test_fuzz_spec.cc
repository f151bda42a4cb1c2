// Specifications changed at random: read or refused in a sentence, and no number differs from its
// text.
#include <sstream>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"
#include "mutate.h"
#include "spec.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

const char* const kWhole =
    "fabriscope-spec 1\nseed 42\nbudget_ns 2000000000\nburst_ns 3000000\nmax_burst_operations "
    "1000\n"
    "case_timeout_ns 10000000000\nsample_memory_bytes 33554432\nverify 1\nshare_clocks 1\n"
    "case id=ab12 benchmark=ping_pong message_size_bytes=1024 window_size=1 "
    "send_buffer_bytes=65536\n"
    "case id=cd34 benchmark=bandwidth message_size_bytes=4 window_size=64\nend\n";
const char* const kSeries =
    "fabriscope-spec 1\ncases benchmark=allreduce datatype=float points=4x1,8x1,16x1 "
    "ids=DB8qPEtdAAAAAAAAq83vASNF\ncases datatype=double "
    "ids=EjRWeJq83vASNFZ4mrze8BI0\nend\n";

std::string digits_of(const std::string& text) {
  const std::size_t first = text.find_first_not_of('0');
  return first == std::string::npos ? "0" : text.substr(first);
}

// What is read as a number is that number's digits; leading zeros alone may be more.
void compare(const Spec& spec, const std::string& text) {
  std::istringstream lines(text);
  std::size_t plain = 0;
  bool has_series = false;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string value;
    words >> key >> value;
    if (key == "end") break;
    has_series = has_series || key == "cases";
    if (key == "seed") CHECK_EQUAL(digits_of(value), std::to_string(spec.seed));
    if (key == "budget_ns") CHECK_EQUAL(digits_of(value), std::to_string(spec.budget_ns));
    if (key == "burst_ns") CHECK_EQUAL(digits_of(value), std::to_string(spec.burst_ns));
    if (key == "case_timeout_ns") {
      CHECK_EQUAL(digits_of(value), std::to_string(spec.case_timeout_ns));
    }
    if (key == "sample_memory_bytes") {
      CHECK_EQUAL(digits_of(value), std::to_string(spec.sample_memory_bytes));
    }
    if (key != "case" || has_series) continue;
    const CaseSpec& item = spec.cases[plain++];
    std::string word = value;
    do {
      if (word[0] == '#') break;
      const auto number = [&word] { return digits_of(word.substr(word.find('=') + 1)); };
      if (word.rfind("message_size_bytes=", 0) == 0) {
        CHECK_EQUAL(number(), std::to_string(item.message_size_bytes));
      }
      if (word.rfind("window_size=", 0) == 0) {
        CHECK_EQUAL(number(), std::to_string(item.window_size));
      }
    } while (words >> word);
  }
}

bool is_read(const std::string& text) {
  try {
    compare(parse_spec(text), text);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

TEST(specifications_changed_at_random_are_read_or_refused) {
  std::vector<std::string> texts = corpus(CORPUS_PATH);
  for (const std::string& text : texts) is_read(text);
  texts.insert(texts.end(), {kWhole, kSeries});
  Mutator mutator(20, texts);
  const std::uint64_t count = fuzz_count(2000);
  std::uint64_t read = 0;
  for (std::uint64_t i = 0; i < count; ++i) read += is_read(mutator.next()) ? 1 : 0;
  CHECK(read > 0);
  CHECK(read < count);
}

TEST(numbers_are_digits_and_nothing_else) {
  for (const char* text : {"+5", " 12", "12 ", "0x10", "1e3", "1e3x", "-0", "", "-1", "5.0",
                           "9223372036854775808", "1000000000000000000"}) {
    CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_integer(text, "n", 0, 1'000'000)), "whole number");
  }
  CHECK_EQUAL(parse_integer("0012", "n", 0, 100), 12);
}

TEST(a_series_that_would_unfold_beyond_all_memory_is_refused) {
  std::string points = "4x1";
  std::string ids(8, 'A');
  for (int i = 0; i < 20'000; ++i) {
    points += ",4x1";
    ids += "AAAAAAAA";
  }
  const std::string text =
      "fabriscope-spec 1\ncases benchmark=ping_pong long=" + std::string(1 << 20, 'y') +
      " points=" + points + " ids=" + ids + "\n";
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_spec(text)), "longer than 64 MiB");
}
