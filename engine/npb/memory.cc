#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <limits>

#include "program.h"

namespace fabriscope::npb {
namespace {

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();

// The number in a file; `otherwise` where there is none (`max`).
std::int64_t number_in(const std::string& path, std::int64_t otherwise) {
  std::ifstream file(path);
  std::int64_t number = 0;
  return file >> number ? number : otherwise;
}

std::int64_t available_by_kernel() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (std::string line; std::getline(file, line);) {
    long long kilobytes = 0;
    if (std::sscanf(line.c_str(), "MemAvailable: %lld kB", &kilobytes) == 1) {
      return kilobytes * 1024;
    }
  }
  return kUnlimited;
}

// What the control groups from ours up to the root leave; files of the page cache give way.
std::int64_t available_by_group() {
  std::ifstream file("/proc/self/cgroup");
  std::int64_t least = kUnlimited;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::", 0) != 0) continue;
    for (std::string path = line.substr(3); path.size() > 1; path.resize(path.rfind('/'))) {
      const std::string folder = "/sys/fs/cgroup" + path;
      const std::int64_t limit = number_in(folder + "/memory.max", kUnlimited);
      const std::int64_t used = number_in(folder + "/memory.current", 0);
      if (limit == kUnlimited) continue;
      std::int64_t cached = 0;
      std::ifstream statistics(folder + "/memory.stat");
      std::string name;
      for (std::int64_t bytes = 0; statistics >> name >> bytes;) {
        if (name == "inactive_file" || name == "active_file") cached += bytes;
      }
      least = std::min(least, std::max<std::int64_t>(0, limit - used + cached));
    }
  }
  return least;
}

}  // namespace

std::int64_t available_bytes() { return std::min(available_by_kernel(), available_by_group()); }

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "this host";
  return name.data();
}

}  // namespace fabriscope::npb
