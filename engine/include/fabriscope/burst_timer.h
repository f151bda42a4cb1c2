// The timed region: runs an operation so and so often and writes down how long each took.
#pragma once

#include <atomic>
#include <cstdint>

#include "fabriscope/clock.h"

namespace fabriscope {

// What is decided before the clock starts happens here, once a burst: which clock, one operation
// or several a sample, recorded or not. The loops hold the operation, one clock read and two
// stores a sample: the duration, and how far we are (for the watchdog).
class BurstTimer {
 public:
  // Where `durations` is null the operations run without a clock: the ranks that only answer.
  BurstTimer(ClockKind clock, std::int64_t* durations, std::int64_t sample_count,
             std::int64_t operations_per_sample, std::atomic<std::int64_t>& progress)
      : clock_(clock),
        durations_(durations),
        sample_count_(sample_count),
        operations_per_sample_(operations_per_sample),
        progress_(progress) {}

  template <typename Operation>
  void run(Operation&& operation) {
    if (durations_ == nullptr) {
      answer(operation);
    } else if (clock_ == ClockKind::kTsc) {
      start<TscClock>(operation);
    } else {
      start<SteadyClock>(operation);
    }
  }

  std::int64_t start_ticks() const { return start_ticks_; }

 private:
  template <typename TickClock, typename Operation>
  void start(Operation& operation) {
    if (operations_per_sample_ == 1) {
      record_each<TickClock>(operation);
    } else {
      record_batches<TickClock>(operation);
    }
  }

  template <typename TickClock, typename Operation>
  void record_each(Operation& operation) {
    const std::int64_t base = progress_.load(std::memory_order_relaxed) + 1;
    std::int64_t previous = TickClock::now();
    start_ticks_ = previous;
    for (std::int64_t sample = 0; sample < sample_count_; ++sample) {
      operation();
      const std::int64_t now = TickClock::now();
      durations_[sample] = now - previous;
      progress_.store(base + sample, std::memory_order_relaxed);
      previous = now;
    }
  }

  template <typename TickClock, typename Operation>
  void record_batches(Operation& operation) {
    const std::int64_t base = progress_.load(std::memory_order_relaxed) + 1;
    std::int64_t previous = TickClock::now();
    start_ticks_ = previous;
    for (std::int64_t sample = 0; sample < sample_count_; ++sample) {
      for (std::int64_t i = 0; i < operations_per_sample_; ++i) operation();
      const std::int64_t now = TickClock::now();
      durations_[sample] = now - previous;
      progress_.store(base + sample, std::memory_order_relaxed);
      previous = now;
    }
  }

  template <typename Operation>
  void answer(Operation& operation) {
    const std::int64_t base = progress_.load(std::memory_order_relaxed) + 1;
    const std::int64_t operation_count = sample_count_ * operations_per_sample_;
    for (std::int64_t i = 0; i < operation_count; ++i) {
      operation();
      progress_.store(base + i, std::memory_order_relaxed);
    }
  }

  ClockKind clock_;
  std::int64_t* durations_;
  std::int64_t sample_count_;
  std::int64_t operations_per_sample_;
  std::atomic<std::int64_t>& progress_;
  std::int64_t start_ticks_ = 0;
};

}  // namespace fabriscope
