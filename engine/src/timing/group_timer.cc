// How a rank of a group waits for its turn and records its operations.
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "fabriscope/burst_timer.h"
#include "fabriscope/rendezvous.h"

namespace fabriscope {
namespace {

// Nearer than this a rank keeps its core; farther away it offers the core to others, for many ranks
// may share it; and with very much time left it sleeps, so that those who still work can.
constexpr std::int64_t kKeepUs = 50;
constexpr std::int64_t kSleepUs = 3000;
constexpr std::int64_t kAwakeUs =
    1500;  // of what is left after a sleep, whatever the timer's slack

void pause_briefly() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Of ranks that share processors: all sleep until just before the instant, each by a timer of its
// own that is not late. Whoever is first on a processor waits for the instant, begins, and sleeps
// for so long that all others there begin as well: to yield does not always let them.
constexpr std::int64_t kWakeUs = 100;
constexpr long kGiveWayNs = 200'000;

template <typename TickClock>
void wait_in_a_crowd(std::int64_t instant_ticks, std::int64_t ticks_per_us) {
  const std::int64_t left_us = (instant_ticks - TickClock::now()) / ticks_per_us - kWakeUs;
  if (left_us > 0) {
    const std::int64_t wake_ns = SteadyClock::now() + left_us * 1000;
    const timespec wake{wake_ns / 1'000'000'000, static_cast<long>(wake_ns % 1'000'000'000)};
    prctl(PR_SET_TIMERSLACK, 1UL);
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
  }
  while (TickClock::now() < instant_ticks) pause_briefly();
}

template <typename TickClock>
void wait_until(std::int64_t instant_ticks, std::int64_t ticks_per_us) {
  for (;;) {
    const std::int64_t left_ticks = instant_ticks - TickClock::now();
    if (left_ticks <= 0) return;
    const std::int64_t left_us = left_ticks / ticks_per_us;
    if (left_us < kKeepUs) {
      pause_briefly();
    } else if (left_us < kSleepUs) {
      sched_yield();
    } else {
      const std::int64_t nap_us = std::min<std::int64_t>(left_us - kAwakeUs, 500'000);
      const timespec nap{0, static_cast<long>(nap_us) * 1000};
      nanosleep(&nap, nullptr);
    }
  }
}

}  // namespace

template <typename TickClock>
void BurstTimer::record_starts(Call call, void* operation) {
  const std::int64_t base = progress_.load(std::memory_order_relaxed) + 1;
  for (std::int64_t sample = 0; sample < sample_count_; ++sample) {
    if (group_->instant_ticks == nullptr) {
      group_->rendezvous->barrier();
    } else if (group_->is_crowded) {
      wait_in_a_crowd<TickClock>(group_->instant_ticks[sample], group_->ticks_per_us);
    } else {
      wait_until<TickClock>(group_->instant_ticks[sample], group_->ticks_per_us);
    }
    const std::int64_t begin = TickClock::now();
    call(operation);
    const std::int64_t end = TickClock::now();
    group_->start_ticks[sample] = begin;
    durations_[sample] = end - begin;
    if (progress_.load(std::memory_order_relaxed) != kWatchedElsewhere) {
      progress_.store(base + sample, std::memory_order_relaxed);
    }
  }
  start_ticks_ = group_->start_ticks[0];
}

void BurstTimer::give_way() const {
  if (group_ == nullptr || !group_->is_crowded) return;
  const timespec way{0, kGiveWayNs};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &way, nullptr);
}

void BurstTimer::run_group(Call call, void* operation) {
  if (clock_ == ClockKind::kTsc) {
    record_starts<TscClock>(call, operation);
  } else {
    record_starts<SteadyClock>(call, operation);
  }
}

}  // namespace fabriscope
