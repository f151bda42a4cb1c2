// A queue in front of a wire: what waits for it and what is on it, in bytes, with tail drop.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>

#include "wire.h"

namespace fabriscope::lab {

class Queue {
 public:
  // A capacity of 0 is unlimited.
  Queue(std::int64_t rate_bits_per_s, std::int64_t capacity_bytes) : wire_(rate_bits_per_s) {
    set_capacity(capacity_bytes);
  }

  void set_rate(std::int64_t rate_bits_per_s) { wire_.set_rate(rate_bits_per_s); }
  // What is held stays, more than that too.
  void set_capacity(std::int64_t capacity_bytes) {
    capacity_bytes_ =
        capacity_bytes > 0 ? capacity_bytes : std::numeric_limits<std::int64_t>::max();
  }

  // Returns when the last bit of a frame that comes at `now_ns` has left; none: there was no room.
  // Time must not go back from call to call.
  std::optional<std::int64_t> pass(std::int64_t now_ns, std::int64_t frame_bytes) {
    drain(now_ns);
    if (frame_bytes > capacity_bytes_ - held_bytes_) return std::nullopt;
    const std::int64_t left_ns = wire_.pass(now_ns, frame_bytes);
    passed_bytes_ += frame_bytes;
    held_.push_back({left_ns, frame_bytes, passed_bytes_});
    held_bytes_ += frame_bytes;
    // Without a rate a frame has left as it came: it never waited.
    if (left_ns > now_ns) maximum_bytes_ = std::max(maximum_bytes_, held_bytes_);
    return left_ns;
  }

  // Returns when a frame that comes now begins to leave; in the past if at once.
  std::int64_t free_ns() const { return wire_.free_ns(); }

  // Returns the bytes of the frames that have not left completely by `now_ns`.
  std::int64_t bytes(std::int64_t now_ns) {
    drain(now_ns);
    return held_bytes_;
  }

  // Returns when at most this many bytes are left if no frame comes.
  std::int64_t down_to_ns(std::int64_t bytes) const {
    if (held_bytes_ <= bytes) return drained_ns_;
    // After the frame that leaves then, all but `bytes` of everything that ever came has left.
    const std::int64_t gone_bytes = passed_bytes_ - bytes;
    return std::lower_bound(
               held_.begin(), held_.end(), gone_bytes,
               [](const Held& one, std::int64_t gone) { return one.until_bytes < gone; })
        ->left_ns;
  }

  // Returns the most bytes held since the last call.
  std::int64_t take_maximum_bytes() {
    const std::int64_t maximum_bytes = maximum_bytes_;
    maximum_bytes_ = held_bytes_;
    return maximum_bytes;
  }

 private:
  struct Held {
    std::int64_t left_ns;
    std::int64_t bytes;
    std::int64_t until_bytes;  // of everything that ever came, this frame included
  };

  void drain(std::int64_t now_ns) {
    drained_ns_ = std::max(drained_ns_, now_ns);
    while (!held_.empty() && held_.front().left_ns <= now_ns) {
      held_bytes_ -= held_.front().bytes;
      held_.pop_front();
    }
  }

  Wire wire_;
  std::int64_t capacity_bytes_ = 0;
  std::int64_t held_bytes_ = 0;
  std::int64_t passed_bytes_ = 0;
  std::int64_t maximum_bytes_ = 0;
  std::int64_t drained_ns_ = 0;
  std::deque<Held> held_;
};

}  // namespace fabriscope::lab
