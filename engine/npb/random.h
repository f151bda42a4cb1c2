// The specification's pseudo-random numbers: x(k+1) = 5^13 x(k) mod 2^46, uniform in (0, 1) as
// x(k) 2^-46. Arithmetic mod 2^64 gives the same 46 low bits.
#pragma once

#include <cstdint>

namespace fabriscope::npb {

constexpr std::uint64_t kMultiplier = 1220703125;
constexpr std::uint64_t kModulusMask = (std::uint64_t{1} << 46U) - 1;
constexpr double kModulusInverse = 1.0 / static_cast<double>(std::uint64_t{1} << 46U);

// The multiplier that goes `count` numbers ahead.
constexpr std::uint64_t skip(std::uint64_t count) {
  std::uint64_t result = 1;
  for (std::uint64_t base = kMultiplier; count != 0; count >>= 1U) {
    if ((count & 1U) != 0) result = result * base & kModulusMask;
    base = base * base & kModulusMask;
  }
  return result;
}

class Random {
 public:
  explicit Random(std::uint64_t seed, std::uint64_t skipped = 0)
      : state_(seed * skip(skipped) & kModulusMask) {}

  double next() {
    state_ = state_ * kMultiplier & kModulusMask;
    return static_cast<double>(static_cast<std::int64_t>(state_)) * kModulusInverse;
  }

 private:
  std::uint64_t state_;
};

}  // namespace fabriscope::npb
