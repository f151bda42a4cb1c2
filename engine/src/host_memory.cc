#include "host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace fabriscope {
namespace {

constexpr char kGroups[] = "/sys/fs/cgroup";

std::optional<std::string> first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  return word;
}

// "33792K", "2M", "4096"; nothing for "max" and for what is not there.
std::optional<std::size_t> size_in(const std::string& path) {
  const std::optional<std::string> word = first_word(path);
  if (!word) return std::nullopt;
  std::size_t bytes = 0;
  std::size_t at = 0;
  for (; at < word->size() && (*word)[at] >= '0' && (*word)[at] <= '9'; ++at) {
    if (bytes > std::numeric_limits<std::size_t>::max() / 16384) return std::nullopt;
    bytes = bytes * 10 + static_cast<std::size_t>((*word)[at] - '0');
  }
  if (at == 0) return std::nullopt;
  const std::string unit = word->substr(at);
  if (unit == "K") return bytes << 10U;
  if (unit == "M") return bytes << 20U;
  return bytes;
}

std::optional<std::size_t> of_meminfo(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::size_t kib = 0;
  std::string unit;
  while (file >> key >> kib) {
    if (key == name + ":") return kib << 10U;
    std::getline(file, unit);
  }
  return std::nullopt;
}

// "0::/user.slice/x" in /proc/self/cgroup: "/user.slice/x".
std::string own_group() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("0::/", 0) == 0) return line.substr(3);
  }
  return {};
}

}  // namespace

std::optional<std::size_t> last_level_cache_bytes() {
  std::size_t largest = 0;
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/size";
    largest = std::max(largest, size_in(folder).value_or(0));
  }
  for (const int name : {_SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL4_CACHE_SIZE}) {
    largest = std::max(largest, static_cast<std::size_t>(std::max(sysconf(name), 0L)));
  }
  if (largest == 0) return std::nullopt;
  return largest;
}

std::optional<std::size_t> available_memory_bytes() {
  std::optional<std::size_t> available = of_meminfo("MemAvailable");
  for (std::string group = own_group(); !group.empty(); group.erase(group.rfind('/'))) {
    const auto most = size_in(kGroups + group + "/memory.max");
    const auto used = size_in(kGroups + group + "/memory.current");
    if (!most || !used) continue;
    const std::size_t left = *most - std::min(*most, *used);
    available = available ? std::min(*available, left) : left;
  }
  return available;
}

std::string memory_identity() {
  return first_word("/proc/sys/kernel/random/boot_id").value_or("unknown");
}

}  // namespace fabriscope
