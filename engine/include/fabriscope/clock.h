// The clock that operations are timed with. Ticks are read in the timed region and turned into
// nanoseconds afterwards.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace fabriscope {

// CLOCK_MONOTONIC: slewed by NTP, never set back. One tick is one nanosecond.
struct SteadyClock {
  static std::int64_t now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  }
};

// The processor's time-stamp counter. Not serialising on purpose: a fence costs more than the few
// nanoseconds by which the read can slip, and what is timed is far longer.
struct TscClock {
#if defined(__x86_64__)
  static std::int64_t now() { return static_cast<std::int64_t>(__rdtsc()); }
#else
  static std::int64_t now() { return SteadyClock::now(); }
#endif
};

enum class ClockKind { kSteady, kTsc };
enum class ClockChoice { kAutomatic, kSteady, kTsc };

// A calibrated clock: which one, what a read costs, and how ticks become nanoseconds.
class Clock {
 public:
  // The time-stamp counter where it is invariant and the kernel itself trusts it, and otherwise
  // CLOCK_MONOTONIC. Takes about 30 ms. Throws UsageError for kTsc where it cannot be trusted.
  static Clock calibrate(ClockChoice choice);

  ClockKind kind() const { return kind_; }
  std::string name() const { return kind_ == ClockKind::kTsc ? "tsc" : "steady"; }
  double ns_per_tick() const { return ns_per_tick_; }
  std::int64_t ticks_per_us() const { return static_cast<std::int64_t>(1000.0 / ns_per_tick_); }
  double cost_ns() const { return cost_ns_; }
  double resolution_ns() const { return resolution_ns_; }
  double record_cost_ns() const { return record_cost_ns_; }

  std::int64_t now_ticks() const {
    return kind_ == ClockKind::kTsc ? TscClock::now() : SteadyClock::now();
  }
  // For durations and for times since calibration: a double holds those ticks exactly.
  std::int64_t to_ns(std::int64_t ticks) const;
  // Since calibration.
  std::int64_t elapsed_ns() const { return to_ns(now_ticks() - start_ticks_); }
  std::int64_t start_ticks() const { return start_ticks_; }

  // By how much this clock ran away from CLOCK_MONOTONIC since calibration.
  double drift_ppm() const;

 private:
  void measure_costs();

  ClockKind kind_ = ClockKind::kSteady;
  double ns_per_tick_ = 1.0;
  double cost_ns_ = 0.0;
  double resolution_ns_ = 0.0;
  double record_cost_ns_ = 0.0;
  std::int64_t start_ticks_ = 0;
  std::int64_t start_steady_ns_ = 0;
};

}  // namespace fabriscope
