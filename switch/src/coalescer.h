// Interrupt coalescing of a host's card: frames that have arrived are handed over together, so long
// after the first of them or when there are so many, whichever comes first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>

#include "frame.h"

namespace fabriscope::lab {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct Delivery {
  FramePointer frame;  // none: nothing is due
  std::int64_t due_ns = 0;
};

class Coalescer {
 public:
  // A wait of 0 hands every frame over at once; `frames` of 0 sets no limit on their number.
  Coalescer(std::int64_t wait_ns, std::int64_t frames) { set(wait_ns, frames); }

  // From the next frame on: those that wait are handed over when they were to be, or with it.
  void set(std::int64_t wait_ns, std::int64_t frames) {
    wait_ns_ = wait_ns;
    frames_ = wait_ns > 0 ? frames : 1;
  }

  // A frame arrived at `now_ns`; time must not go back from call to call.
  void add(FramePointer frame, std::int64_t now_ns) {
    if (open_frames_ > 0 && now_ns > open_until_ns_) open_frames_ = 0;  // those go at their time
    if (open_frames_ == 0) open_until_ns_ = now_ns + wait_ns_;
    ++open_frames_;
    waiting_.push_back({std::move(frame), open_until_ns_});
    if (frames_ > 0 && open_frames_ >= frames_) close(now_ns);
  }

  // Returns when the next frame is handed over; kNever where none waits. A frame that arrives
  // before that time can only make it earlier.
  std::int64_t next_ns() const { return waiting_.empty() ? kNever : waiting_.front().due_ns; }

  // Returns the next frame that is due by `now_ns`. Frames that arrive by `now_ns` must have been
  // added.
  Delivery take(std::int64_t now_ns) {
    if (next_ns() > now_ns) return {};
    Delivery delivery = std::move(waiting_.front());
    waiting_.pop_front();
    open_frames_ = std::min<std::int64_t>(open_frames_, static_cast<std::int64_t>(waiting_.size()));
    return delivery;
  }

 private:
  void close(std::int64_t now_ns) {
    auto waiting = waiting_.rbegin();
    for (; open_frames_ > 0; --open_frames_, ++waiting) waiting->due_ns = now_ns;
  }

  std::int64_t wait_ns_ = 0;
  std::int64_t frames_ = 1;
  std::deque<Delivery> waiting_;
  // The last `open_frames_` of those that wait are handed over together at `open_until_ns_` or
  // before.
  std::int64_t open_frames_ = 0;
  std::int64_t open_until_ns_ = 0;
};

}  // namespace fabriscope::lab
