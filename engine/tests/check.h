// Just enough to write tests with: nothing but a compiler is needed to build the engine, and that
// goes for its tests.
#pragma once

#include <functional>
#include <sstream>
#include <string>

namespace fabriscope::test {

bool add(const char* file, const char* name, std::function<void()> body);
// Notes a failure; the test goes on.
void fail(const char* file, int line, const std::string& what);

template <typename Left, typename Right>
void check_equal(const Left& left, const Right& right, const char* text, const char* file,
                 int line) {
  if (left == right) return;
  std::ostringstream what;
  what << text << ": " << left << " and " << right;
  fail(file, line, what.str());
}

// The message of the `Error` that `body` throws; a failure and nothing where it throws none.
template <typename Error>
std::string message_of(const std::function<void()>& body, const char* file, int line) {
  try {
    body();
  } catch (const Error& error) {
    return error.what();
  }
  fail(file, line, "nothing was thrown");
  return {};
}

}  // namespace fabriscope::test

#define TEST(name)                                                                 \
  static void name();                                                              \
  static const bool name##_added = ::fabriscope::test::add(__FILE__, #name, name); \
  static void name()
#define CHECK(condition) \
  if (!(condition)) ::fabriscope::test::fail(__FILE__, __LINE__, #condition)
#define CHECK_EQUAL(left, right) \
  ::fabriscope::test::check_equal(left, right, #left " == " #right, __FILE__, __LINE__)
#define CHECK_CONTAINS(text, part)            \
  if ((text).find(part) == std::string::npos) \
  ::fabriscope::test::fail(__FILE__, __LINE__, std::string("'") + (part) + "' is not in: " + (text))
#define MESSAGE_OF(Error, ...) \
  ::fabriscope::test::message_of<Error>([&] { __VA_ARGS__; }, __FILE__, __LINE__)
