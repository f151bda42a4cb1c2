#include "check.h"
#include "fabriscope/benchmark.h"
#include "fabriscope/registry.h"
#include "fabriscope/transport.h"

using namespace fabriscope;

namespace {

using NumberRegistry = Registry<int>;

std::unique_ptr<int> seven() { return std::make_unique<int>(7); }

}  // namespace

TEST(finds_by_name) {
  NumberRegistry registry("number");
  registry.add("seven", seven);
  CHECK_EQUAL(*registry.create("seven"), 7);
}

TEST(refuses_a_second_one_of_the_name) {
  NumberRegistry registry("number");
  registry.add("seven", seven);
  CHECK_CONTAINS(MESSAGE_OF(std::logic_error, registry.add("seven", seven)), "two numbers");
  CHECK(!registry.add_at_start("seven", seven));
  CHECK_CONTAINS(registry.start_error(), "'seven'");
}

TEST(lists_the_known_on_a_miss) {
  NumberRegistry registry("number");
  registry.add("seven", seven);
  registry.add("six", seven);
  CHECK_CONTAINS(MESSAGE_OF(UsageError, registry.find("eight")), "known are: seven, six");
}

TEST(says_why_one_is_unavailable) {
  NumberRegistry registry("number");
  registry.add("seven", seven, "out of stock");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, registry.create("seven")), "out of stock");
}

TEST(the_built_in_plug_ins_are_linked) {
  for (const char* name : {"null", "tcp", "shm"}) transport_registry().find(name);
  for (const char* name : {"empty", "ping_pong", "bandwidth", "bidirectional_bandwidth"}) {
    benchmark_registry().find(name);
  }
}
