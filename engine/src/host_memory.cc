#include "host_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>

namespace fabriscope {
namespace {

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

// The number behind a name, in a file of one name a line.
std::optional<std::size_t> number_of(const std::string& path, const std::string& name) {
  std::ifstream file(path);
  std::string key;
  std::size_t number = 0;
  std::string rest;
  while (file >> key >> number) {
    if (key == name) return number;
    std::getline(file, rest);
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

std::optional<std::size_t> left_of_group(const std::string& root, std::string group) {
  std::optional<std::size_t> least;
  while (true) {
    const std::string folder = root + group;
    const auto most = size_in(folder + "/memory.max");
    const auto used = size_in(folder + "/memory.current");
    if (most && used) {
      const std::size_t cached = number_of(folder + "/memory.stat", "inactive_file").value_or(0);
      const std::size_t left = *most - std::min(*most, *used - std::min(*used, cached));
      least = std::min(least.value_or(left), left);
    }
    if (group.empty()) return least;
    group.erase(group.rfind('/'));
  }
}

std::optional<std::size_t> available_memory_bytes() {
  std::optional<std::size_t> available = number_of("/proc/meminfo", "MemAvailable:");
  if (available) *available <<= 10U;
  const std::optional<std::size_t> left = left_of_group("/sys/fs/cgroup", own_group());
  if (!available || !left) return available ? available : left;
  return std::min(*available, *left);
}

std::string memory_identity() {
  return first_word("/proc/sys/kernel/random/boot_id").value_or("unknown");
}

}  // namespace fabriscope
