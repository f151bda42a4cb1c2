// A small test helper: cases register themselves, and a failed check says where and what.
#pragma once

#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace fabriscope::lab::test {

struct Case {
  std::string name;
  std::function<void()> run;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(std::string name, std::function<void()> run) {
    cases().push_back({std::move(name), std::move(run)});
  }
};

template <typename Seen, typename Expected>
void check_equal(const Seen& seen, const Expected& expected, const std::string& what, int line) {
  if (seen == expected) return;
  ++failures();
  std::cerr << "line " << line << ": " << what << " is " << seen << ", not " << expected << '\n';
}

inline int run_all() {
  for (const Case& one : cases()) {
    const int before = failures();
    one.run();
    std::cout << (failures() == before ? "ok      " : "FAILED  ") << one.name << '\n';
  }
  return failures() == 0 ? 0 : 1;
}

}  // namespace fabriscope::lab::test

#define CHECK_EQUAL(seen, expected) \
  ::fabriscope::lab::test::check_equal((seen), (expected), #seen, __LINE__)
#define TEST(name)                                                                           \
  static void test_##name();                                                                 \
  static const ::fabriscope::lab::test::Registration register_##name(#name,                  \
                                                                     [] { test_##name(); }); \
  static void test_##name()
