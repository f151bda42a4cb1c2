// The specification's pseudo-random numbers: x(k+1) = 5^13 x(k) mod 2^46, uniform in (0, 1) as
// x(k) 2^-46. Arithmetic mod 2^64 gives the same 46 low bits.
#pragma once

#include <cstddef>
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

// Numbers `scale` r + `offset`, the first of which comes next after `seed`. In four interleaved
// sequences, or each would wait for the product before it; `count` is a multiple of four.
inline void fill_random(double* numbers, std::size_t count, std::uint64_t seed, double scale = 1.0,
                        double offset = 0.0) {
  constexpr std::size_t kSequences = 4;
  constexpr std::uint64_t kAhead = skip(kSequences);
  std::uint64_t states[kSequences];
  for (std::size_t i = 0; i < kSequences; ++i) states[i] = seed * skip(i + 1) & kModulusMask;
  for (std::size_t i = 0; i < count; i += kSequences) {
    for (std::size_t j = 0; j < kSequences; ++j) {
      const auto state = static_cast<double>(static_cast<std::int64_t>(states[j]));
      numbers[i + j] = state * (scale * kModulusInverse) + offset;
      states[j] = states[j] * kAhead & kModulusMask;
    }
  }
}

}  // namespace fabriscope::npb
