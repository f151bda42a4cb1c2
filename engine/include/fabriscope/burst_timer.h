// The timed region: runs an operation a given number of times and writes down how long each took.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "fabriscope/clock.h"
#include "fabriscope/timing.h"

namespace fabriscope {

class Rendezvous;

// In place of a progress: this rank waits for others, whom somebody else watches.
constexpr std::int64_t kWatchedElsewhere = -1;

// How a rank of a group begins each operation, and where it writes down when it did.
struct GroupStart {
  std::int64_t* start_ticks = nullptr;          // one a sample
  const std::int64_t* instant_ticks = nullptr;  // by this rank's clock; null: a barrier instead
  Rendezvous* rendezvous = nullptr;             // for the barrier
  std::int64_t ticks_per_us = 1;
  // More ranks than processors: they sleep until just before the instant, and in give_way().
  bool is_crowded = false;
};

// What is decided before the clock starts happens here, once a burst: which clock, one operation
// or several a sample, recorded or not. The loops hold the operation, one clock read and two
// stores a sample: the duration, and how far we are (for the watchdog).
class BurstTimer {
 public:
  // Where `durations` is null the operations run without a clock: the ranks that only answer.
  // With `group`, each operation begins as that says, is timed by two clock reads, and is a sample.
  BurstTimer(ClockKind clock, std::int64_t* durations, std::int64_t sample_count,
             std::int64_t operations_per_sample, std::atomic<std::int64_t>& progress,
             const GroupStart* group = nullptr)
      : clock_(clock),
        durations_(durations),
        sample_count_(sample_count),
        operations_per_sample_(operations_per_sample),
        progress_(progress),
        group_(group) {}

  template <typename Operation>
  void run(Operation&& operation) {
    if (group_ != nullptr) {
      using Held = std::remove_reference_t<Operation>;
      run_group([](void* held) { (*static_cast<Held*>(held))(); },
                const_cast<void*>(static_cast<const void*>(std::addressof(operation))));
    } else if (durations_ == nullptr) {
      answer(operation);
    } else if (clock_ == ClockKind::kTsc) {
      start<TscClock>(operation);
    } else {
      start<SteadyClock>(operation);
    }
  }

  // An operation that lasts calls it when its first message is on its way: where ranks share
  // processors, it sleeps a moment, and those that are due as well begin now, not after its time
  // slice.
  void give_way() const;

  // An operation that lasts says for the watchdog that it comes further; or that it waits for ranks
  // that see for themselves whether they do, to the end of the burst.
  void come_further() const { progress_.fetch_add(1, std::memory_order_relaxed); }
  void leave_watch() const { progress_.store(kWatchedElsewhere, std::memory_order_relaxed); }

  std::int64_t start_ticks() const { return start_ticks_; }
  std::int64_t operation_count() const { return sample_count_ * operations_per_sample_; }

 private:
  // Behind a pointer, for what a group does takes far longer than a call: so a benchmark of two
  // ranks is not compiled for it as well.
  using Call = void (*)(void* operation);
  void run_group(Call call, void* operation);
  template <typename TickClock>
  void record_starts(Call call, void* operation);

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
  const GroupStart* group_;
  std::int64_t start_ticks_ = 0;
};

}  // namespace fabriscope
