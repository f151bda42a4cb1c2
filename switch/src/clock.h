// The switch's clock.
#pragma once

#include <time.h>

#include <cstdint>

namespace fabriscope::lab {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

inline std::int64_t monotonic_ns() { return clock_ns(CLOCK_MONOTONIC); }

// Turns times of the clock that the kernel stamps packets with into CLOCK_MONOTONIC.
class StampClock {
 public:
  // Returns when a packet stamped `stamp_ns` passed; never later than `now_ns`, and never earlier
  // than kOldestNs before it: such a stamp means that somebody set the clock.
  std::int64_t monotonic(std::int64_t stamp_ns, std::int64_t now_ns) {
    if (now_ns - measured_ns_ > kMeasureAgainNs || measured_ns_ == 0) {
      offset_ns_ = clock_ns(CLOCK_REALTIME) - monotonic_ns();
      measured_ns_ = now_ns;
    }
    const std::int64_t at_ns = stamp_ns - offset_ns_;
    return at_ns > now_ns || at_ns < now_ns - kOldestNs ? now_ns : at_ns;
  }

 private:
  static constexpr std::int64_t kMeasureAgainNs = 1'000'000;
  static constexpr std::int64_t kOldestNs = 1'000'000'000;

  std::int64_t offset_ns_ = 0;
  std::int64_t measured_ns_ = 0;
};

}  // namespace fabriscope::lab
