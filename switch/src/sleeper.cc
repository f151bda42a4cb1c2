#include "sleeper.h"

#include <poll.h>

#include <algorithm>

#include "clock.h"
#include "coalescer.h"

namespace fabriscope::lab {
namespace {

// A wake-up that takes longer than this is an accident, not what to plan for.
constexpr std::int64_t kMaximumLeadNs = 12'000;
constexpr std::int64_t kShortestSleepNs = 1'000;
constexpr std::int64_t kMemory = 16;

}  // namespace

void Sleeper::sleep_until(std::int64_t until_ns) {
  pollfd watched{epoll_, POLLIN, 0};
  if (until_ns == kNever) {
    ::poll(&watched, 1, -1);
    return;
  }
  const std::int64_t alarm_ns = until_ns - lead_ns_;
  const std::int64_t left_ns = alarm_ns - monotonic_ns();
  if (left_ns < kShortestSleepNs) return;
  const timespec timeout{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
  if (::ppoll(&watched, 1, &timeout, nullptr) != 0) return;
  const std::int64_t late_ns =
      std::clamp<std::int64_t>(monotonic_ns() - alarm_ns, 0, kMaximumLeadNs);
  lead_ns_ += (late_ns - lead_ns_) / kMemory;
}

}  // namespace fabriscope::lab
