#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "clock.h"
#include "format.h"

namespace fabriscope::profile {

// How deep in calls of MPI this thread is: what a library calls of itself is not counted again.
extern __thread int depth __attribute__((tls_model("initial-exec")));
extern std::atomic<bool> is_counting;
extern bool has_threads;  // Several threads may count at once.

inline void add(std::uint64_t& sum, std::uint64_t value) {
  if (has_threads) {
    __atomic_fetch_add(&sum, value, __ATOMIC_RELAXED);
  } else {
    sum += value;
  }
}

// Holds a lock for its life where several threads may count.
class Lock {
 public:
  explicit Lock(std::atomic_flag& flag) : flag_(flag) {
    while (has_threads && flag_.test_and_set(std::memory_order_acquire)) {
    }
  }
  ~Lock() {
    if (has_threads) flag_.clear(std::memory_order_release);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic_flag& flag_;
};

// One call of MPI, from its begin to its end: the outermost one of its thread counts.
class Span {
 public:
  Span()
      : counts_(depth++ == 0 && is_counting.load(std::memory_order_relaxed)),
        begin_(counts_ ? now_ticks() : 0) {}
  ~Span() {
    if (!has_left_) --depth;
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;

  // Ends the span; returns whether the call counts. 0 is MPI_SUCCESS.
  bool ends(int code);
  [[nodiscard]] std::uint64_t ticks() const { return end_ - begin_; }

 private:
  bool counts_;
  bool has_left_ = false;
  std::uint64_t begin_;
  std::uint64_t end_ = 0;
};

// Adds a call of `ticks` and of `bytes`, whose message, which chooses the class, has
// `message_bytes`.
void count(Call call, std::uint64_t message_bytes, std::uint64_t bytes, std::uint32_t who,
           std::uint64_t ticks);

// Opens the file of this rank in a folder, or without one takes memory in its place, and counts
// from now on. Returns false, and says why if `speaks`, where that cannot be.
bool open_file(const char* folder, const Header& about, bool speaks);
// Says in the file how this rank ended, the first time; nothing is counted from then on.
void close_file(State state);
// Counts no more, and later on again: the time between is none of the rank's.
void stop_counting();
void go_on();
// Takes back everything that was counted: the rank begins here.
void restart();
// Counts no more, and leaves the file as it is: the child of a fork is not the rank.
void forget_file();

// Returns the group's number in the file; the last number stands for all groups that found no room.
std::uint32_t add_group(std::uint32_t size, const std::uint32_t* members);
// What the file holds; null, and nothing, where there is none.
Header* header();
const char* image();
std::size_t image_bytes();

}  // namespace fabriscope::profile
