#include "memory.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fabriscope/error.h"

namespace fabriscope {

ibv_mr& RegisteredMemory::add(void* data, std::size_t size_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  for (Region& region : regions_) {
    if (region.begin == begin && region.end >= begin + size_bytes) {
      ++region.uses;
      return *region.mr;
    }
  }
  constexpr int kAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                          IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  Held<ibv_mr> mr(library_.reg_mr(pd_, data, size_bytes, kAccess), library_.dereg_mr);
  if (!mr) {
    const int reason = errno;
    throw CaseError("cannot register " + std::to_string(size_bytes) + " bytes of memory with " +
                    device_ + ": " + std::strerror(reason) +
                    (reason == ENOMEM ? ": raise the limit on locked memory (ulimit -l)" : ""));
  }
  regions_.push_back({begin, begin + size_bytes, std::move(mr), 1});
  return *regions_.back().mr;
}

void RegisteredMemory::remove(void* data) {
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  const auto found = std::find_if(regions_.begin(), regions_.end(),
                                  [begin](const Region& region) { return region.begin == begin; });
  if (found != regions_.end() && --found->uses == 0) regions_.erase(found);
}

}  // namespace fabriscope

#endif
