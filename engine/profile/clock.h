#pragma once

#include <cstdint>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

namespace fabriscope::profile {

inline std::uint64_t now_ns(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Whether the processor's counter runs at one rate whatever the clock of the core: then it is the
// clock, at a third of the cost of the kernel's.
inline bool has_steady_counter() {
#if defined(__x86_64__)
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & (1u << 8u)) != 0;
#else
  return false;
#endif
}

inline std::uint64_t now_ticks() {
#if defined(__x86_64__)
  static const bool is_steady = has_steady_counter();
  if (is_steady) return __rdtsc();
#endif
  return now_ns();
}

}  // namespace fabriscope::profile
