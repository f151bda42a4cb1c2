#pragma once

#include <cstdint>

namespace fabriscope {

// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): small, and the same everywhere, which the standard
// library's distributions and shuffles are not.
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ (mixed >> 30U)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27U)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31U);
  }

  // Uniform in [0, bound), by refusing the values that would favour the small ones.
  std::uint64_t below(std::uint64_t bound) {
    const std::uint64_t refused = (0 - bound) % bound;
    for (;;) {
      const std::uint64_t value = next();
      if (value >= refused) return value % bound;
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace fabriscope
