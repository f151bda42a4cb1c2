// Memory that a device may read and write.
#pragma once

#include "library.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fabriscope {

class RegisteredMemory {
 public:
  RegisteredMemory(const VerbsLibrary& library, ibv_pd* pd, std::string device)
      : library_(library), pd_(pd), device_(std::move(device)) {}

  // What is registered already is registered once. Throws CaseError.
  ibv_mr& add(void* data, std::size_t size_bytes);
  void remove(void* data);

  // The key of registered memory, or null: in the timed region.
  const std::uint32_t* local_key(const void* data, std::size_t size_bytes) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    for (const Region& region : regions_) {
      if (begin >= region.begin && begin + size_bytes <= region.end) return &region.mr->lkey;
    }
    return nullptr;
  }

 private:
  struct Region {
    std::uintptr_t begin;
    std::uintptr_t end;
    Held<ibv_mr> mr;
    int uses;
  };

  const VerbsLibrary& library_;
  ibv_pd* pd_;
  std::string device_;
  std::vector<Region> regions_;
};

}  // namespace fabriscope

#endif
