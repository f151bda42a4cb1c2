#include "fabriscope/clock.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <limits>
#include <vector>

#include "fabriscope/burst_timer.h"
#include "fabriscope/error.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace fabriscope {
namespace {

constexpr std::int64_t kCalibrationNs = 25'000'000;

// The counter must run at one rate in every power state, and the kernel, which compares it with
// other clocks, must not have given it up.
bool tsc_is_trusted() {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  constexpr unsigned kPowerManagementLeaf = 0x80000007;
  constexpr unsigned kInvariantTscBit = 1U << 8;
  if (__get_cpuid(kPowerManagementLeaf, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kInvariantTscBit) == 0) return false;
  std::ifstream source("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string name;
  return (source >> name) && name == "tsc";
#else
  return false;
#endif
}

struct ClockPair {
  std::int64_t ticks;
  std::int64_t steady_ns;
};

// Both clocks at one moment: the reading during which least time passed.
ClockPair read_both() {
  ClockPair best{};
  std::int64_t least_gap = std::numeric_limits<std::int64_t>::max();
  for (int attempt = 0; attempt < 50; ++attempt) {
    const std::int64_t before = TscClock::now();
    const std::int64_t steady_ns = SteadyClock::now();
    const std::int64_t after = TscClock::now();
    if (after - before >= least_gap) continue;
    least_gap = after - before;
    best = {before + (after - before) / 2, steady_ns};
  }
  return best;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

template <typename TickClock>
double ticks_per_read() {
  constexpr int kReads = 1000;
  std::vector<double> batches;
  for (int batch = 0; batch < 31; ++batch) {
    const std::int64_t begin = TickClock::now();
    std::int64_t end = begin;
    for (int read = 0; read < kReads; ++read) end = TickClock::now();
    batches.push_back(static_cast<double>(end - begin) / kReads);
  }
  return median(batches);
}

template <typename TickClock>
double least_step_ticks() {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t previous = TickClock::now();
  for (int read = 0; read < 10000; ++read) {
    const std::int64_t now = TickClock::now();
    if (now > previous) least = std::min(least, now - previous);
    previous = now;
  }
  return static_cast<double>(least);
}

// What a sample of nothing costs, by the loop that measures.
double ticks_per_record(ClockKind kind) {
  std::vector<std::int64_t> durations(1000);
  std::atomic<std::int64_t> progress{0};
  std::vector<double> batches;
  for (int batch = 0; batch < 31; ++batch) {
    BurstTimer timer(kind, durations.data(), static_cast<std::int64_t>(durations.size()), 1,
                     progress);
    timer.run([] { asm volatile("" ::: "memory"); });
    std::int64_t total = 0;
    for (const std::int64_t duration : durations) total += duration;
    batches.push_back(static_cast<double>(total) / static_cast<double>(durations.size()));
  }
  return median(batches);
}

}  // namespace

Clock Clock::calibrate(ClockChoice choice) {
  const bool trusted = choice != ClockChoice::kSteady && tsc_is_trusted();
  if (choice == ClockChoice::kTsc && !trusted) {
    throw UsageError(
        "the time-stamp counter cannot serve as the clock here: it is not invariant, or the "
        "kernel's own clocksource is another");
  }
  Clock clock;
  clock.kind_ = trusted ? ClockKind::kTsc : ClockKind::kSteady;
  const ClockPair begin = read_both();
  if (trusted) {
    const timespec pause{0, kCalibrationNs};
    nanosleep(&pause, nullptr);
    const ClockPair end = read_both();
    clock.ns_per_tick_ = static_cast<double>(end.steady_ns - begin.steady_ns) /
                         static_cast<double>(end.ticks - begin.ticks);
  }
  clock.measure_costs();
  const ClockPair start = read_both();
  clock.start_ticks_ = trusted ? start.ticks : start.steady_ns;
  clock.start_steady_ns_ = start.steady_ns;
  return clock;
}

void Clock::measure_costs() {
  const bool tsc = kind_ == ClockKind::kTsc;
  cost_ns_ = ns_per_tick_ * (tsc ? ticks_per_read<TscClock>() : ticks_per_read<SteadyClock>());
  resolution_ns_ =
      ns_per_tick_ * (tsc ? least_step_ticks<TscClock>() : least_step_ticks<SteadyClock>());
  record_cost_ns_ = ns_per_tick_ * ticks_per_record(kind_);
}

std::int64_t Clock::to_ns(std::int64_t ticks) const {
  if (kind_ == ClockKind::kSteady) return ticks;
  return std::llround(static_cast<double>(ticks) * ns_per_tick_);
}

double Clock::drift_ppm() const {
  if (kind_ == ClockKind::kSteady) return 0.0;
  const ClockPair now = read_both();
  const auto steady_ns = static_cast<double>(now.steady_ns - start_steady_ns_);
  const double own_ns = static_cast<double>(now.ticks - start_ticks_) * ns_per_tick_;
  return steady_ns > 0 ? (own_ns - steady_ns) / steady_ns * 1e6 : 0.0;
}

}  // namespace fabriscope
