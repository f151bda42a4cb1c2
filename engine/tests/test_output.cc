#include <limits>

#include "check.h"
#include "helpers.h"
#include "json.h"
#include "stream.h"

using namespace fabriscope;
using namespace fabriscope::test;

TEST(strings_are_escaped) {
  CHECK_EQUAL(json_string("plain"), "\"plain\"");
  CHECK_EQUAL(json_string("a\"b\\c\nd\te"), R"("a\"b\\c\nd\te")");
  CHECK_EQUAL(json_string(std::string("\x01\0\x7f", 3)), R"("\u0001\u0000\u007f")");
  CHECK_EQUAL(json_string("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
              "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

TEST(what_is_not_utf8_is_replaced) {
  CHECK_EQUAL(json_string("a\xff"
                          "b"),
              R"("a\ufffdb")");
  CHECK_EQUAL(json_string("\xc3"), R"("\ufffd")");
  CHECK_EQUAL(json_string("\xc0\xaf"), R"("\ufffd\ufffd")");
  CHECK_EQUAL(json_string("\xed\xa0\x80"), R"("\ufffd\ufffd\ufffd")");
  CHECK_EQUAL(json_string("\xf4\x90\x80\x80"), R"("\ufffd\ufffd\ufffd\ufffd")");
}

TEST(numbers_that_do_not_exist_are_null) {
  CHECK_EQUAL(json_number(14.75), "14.75");
  CHECK_EQUAL(json_number(std::numeric_limits<double>::quiet_NaN()), "null");
  CHECK_EQUAL(json_number(std::numeric_limits<double>::infinity()), "null");
}

TEST(objects_keep_their_order_and_their_types) {
  JsonObject object;
  object.add("a", std::int64_t{9223372036854775807}).add("b", "x").add("c", true).add_null("d");
  object.add_fields({{"e", std::int64_t{1}}, {"f", std::string("y")}, {"g", 0.5}});
  CHECK_EQUAL(object.text(),
              R"({"a":9223372036854775807,"b":"x","c":true,"d":null,"e":1,"f":"y","g":0.5})");
}

TEST(long_arrays_arrive_whole) {
  const TemporaryFolder folder;
  const std::vector<std::int64_t> values(100'000, -7);
  StreamWriter stream(folder.path("out"));
  stream.line_with_integers(JsonObject().add("type", "block"), "durations_ns", values.data(),
                            static_cast<std::int64_t>(values.size()));
  stream.line_with_integers(JsonObject().add("type", "block"), "durations_ns", values.data(), 1);
  stream.flush();
  const std::string text = folder.read("out");
  CHECK_EQUAL(count_of(text, "-7"), 100'001U);
  CHECK_EQUAL(last_line(text), R"({"type":"block","durations_ns":[-7]})");
}
