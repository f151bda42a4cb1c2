#include "check.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

namespace fabriscope::test {
namespace {

struct Test {
  const char* name;
  std::function<void()> body;
};

std::vector<Test>& tests() {
  static std::vector<Test> list;
  return list;
}

int failure_count = 0;

}  // namespace

bool add(const char* name, std::function<void()> body) {
  tests().push_back({name, std::move(body)});
  return true;
}

void fail(const char* file, int line, const std::string& what) {
  ++failure_count;
  std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

}  // namespace fabriscope::test

// With a name: that test alone.
int main(int argument_count, char** arguments) {
  using namespace fabriscope::test;
  std::signal(SIGPIPE, SIG_IGN);
  for (const Test& test : tests()) {
    if (argument_count > 1 && std::string(arguments[1]) != test.name) continue;
    std::printf("%s\n", test.name);
    std::fflush(stdout);
    try {
      test.body();
    } catch (const std::exception& error) {
      fail(test.name, 0, std::string("threw: ") + error.what());
    }
  }
  return failure_count == 0 ? 0 : 1;
}
