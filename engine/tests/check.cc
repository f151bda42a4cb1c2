#include "check.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>
#include <vector>

namespace fabriscope::test {
namespace {

struct Test {
  std::string file;  // without its folder and ending
  const char* name;
  std::function<void()> body;
};

std::vector<Test>& tests() {
  static std::vector<Test> list;
  return list;
}

int failure_count = 0;

}  // namespace

bool add(const char* file, const char* name, std::function<void()> body) {
  tests().push_back({std::filesystem::path(file).stem(), name, std::move(body)});
  return true;
}

void fail(const char* file, int line, const std::string& what) {
  ++failure_count;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

}  // namespace fabriscope::test

// With a name: the tests of that file, or that test alone.
int main(int argument_count, char** arguments) {
  using namespace fabriscope::test;
  std::signal(SIGPIPE, SIG_IGN);
  const std::string asked = argument_count > 1 ? arguments[1] : "";
  int run_count = 0;
  for (const Test& test : tests()) {
    if (!asked.empty() && asked != test.file && asked != test.name) continue;
    ++run_count;
    std::printf("%s\n", test.name);
    std::fflush(stdout);
    try {
      test.body();
    } catch (const std::exception& error) {
      fail(test.name, 0, std::string("threw: ") + error.what());
    }
  }
  if (run_count == 0) fail("tests", 0, "there is none of " + asked);
  return failure_count == 0 ? 0 : 1;
}
