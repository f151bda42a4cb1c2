// What the limits of control groups leave.
#include <filesystem>
#include <string>

#include "check.h"
#include "helpers.h"
#include "host_memory.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

void make_group(const TemporaryFolder& folder, const std::string& group, const std::string& most,
                const std::string& used) {
  std::filesystem::create_directories(folder.path(group));
  folder.write(group + "/memory.max", most + "\n");
  folder.write(group + "/memory.current", used + "\n");
}

}  // namespace

TEST(the_tightest_limit_up_to_the_root_counts) {
  const TemporaryFolder folder;
  make_group(folder, "groups", "8000", "3000");
  make_group(folder, "groups/a", "max", "3000");
  make_group(folder, "groups/a/b", "9000", "2000");
  const std::string root = folder.path("groups");
  CHECK(left_of_group(root, "/a/b") == std::size_t{5000});
  CHECK(left_of_group(root, "/") == std::size_t{5000});
  make_group(folder, "groups/a/b", "4000", "2000");
  CHECK(left_of_group(root, "/a/b") == std::size_t{2000});
  make_group(folder, "groups/a/b", "4000", "5000");
  CHECK(left_of_group(root, "/a/b") == std::size_t{0});
}

TEST(cached_files_give_way) {
  const TemporaryFolder folder;
  make_group(folder, "groups", "8000", "7500");
  folder.write("groups/memory.stat", "anon 1000\nfile 6500\ninactive_file 6000\n");
  CHECK(left_of_group(folder.path("groups"), "") == std::size_t{6500});
}

TEST(no_limit_is_none) {
  const TemporaryFolder folder;
  make_group(folder, "groups", "max", "3000");
  CHECK(!left_of_group(folder.path("groups"), "/a"));
  CHECK(!left_of_group(folder.path("nowhere"), ""));
}
