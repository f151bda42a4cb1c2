// What a switch holds, and whether it may take more: the pool that all queues share with dynamic
// thresholds, and what each input holds of a priority that is paused instead of dropped.
#pragma once

#include <algorithm>
#include <cstdint>

#include "qos_settings.h"

namespace fabriscope::lab {

// What one input (or one priority of it) holds.
struct InputShare {
  std::int64_t bytes = 0;           // within its threshold
  std::int64_t pool_bytes = 0;      // of these, in the buffer that all share
  std::int64_t headroom_bytes = 0;  // beyond it
  bool is_stopped = false;          // the other end was told to stop

  std::int64_t all_bytes() const { return bytes + headroom_bytes; }
};

// Where a frame is kept; kNone: it is dropped.
enum class Place { kNone, kQueue, kPool, kInput, kHeadroom };

class SwitchMemory {
 public:
  // `full_frame_headroom_bytes` is what is needed where nobody says.
  void set(const QosSettings& qos, std::int64_t buffer_bytes,
           std::int64_t full_frame_headroom_bytes) {
    qos_ = qos;
    buffer_bytes_ = buffer_bytes;
    headroom_bytes_ = qos.headroom_bytes == kUnset ? full_frame_headroom_bytes : qos.headroom_bytes;
  }

  std::int64_t used_bytes() const { return used_bytes_; }
  std::int64_t free_bytes() const {
    return std::max<std::int64_t>(qos_.shared_bytes - used_bytes_, 0);
  }

  // T(t) = alpha (B - Q(t)): what each queue may hold while all of them hold Q(t) of the pool B.
  // Choudhury, Hahne: Dynamic Queue Length Thresholds for Shared-Memory Packet Switches, 1998.
  std::int64_t threshold_bytes() const { return scaled(free_bytes()); }

  // Of a priority that is dropped where there is no room. A queue takes a frame while it is below
  // the threshold.
  Place admit(std::int64_t queue_bytes, std::int64_t frame_bytes) {
    if (qos_.shared_bytes == 0) {
      const bool fits = buffer_bytes_ == 0 || queue_bytes + frame_bytes <= buffer_bytes_;
      return fits ? Place::kQueue : Place::kNone;
    }
    if (queue_bytes >= threshold_bytes() || frame_bytes > free_bytes()) return Place::kNone;
    used_bytes_ += frame_bytes;
    return Place::kPool;
  }

  // Of a priority that is paused. It must be stopped where the frame went beyond its threshold.
  Place admit(InputShare& input, std::int64_t frame_bytes) {
    const bool is_shared = qos_.shared_bytes > 0;
    const bool is_below = input.bytes + frame_bytes <= xoff_bytes();
    if (is_below && (!is_shared || frame_bytes <= free_bytes())) {
      input.bytes += frame_bytes;
      if (is_shared) {
        input.pool_bytes += frame_bytes;
        used_bytes_ += frame_bytes;
      }
      return Place::kInput;
    }
    if (input.headroom_bytes + frame_bytes > headroom_bytes_) return Place::kNone;
    input.headroom_bytes += frame_bytes;
    return Place::kHeadroom;
  }

  // What leaves an input makes room beyond the threshold first, whichever frame it was: it is how
  // much the input holds that counts. If the last frames of a long queue kept the headroom until
  // they left, it would still be taken when the other end has gone on and is stopped anew.
  void release(Place place, InputShare* input, std::int64_t frame_bytes) {
    if (place == Place::kPool) used_bytes_ -= frame_bytes;
    if (input == nullptr) return;
    const std::int64_t beyond_bytes = std::min(input->headroom_bytes, frame_bytes);
    const std::int64_t within_bytes = frame_bytes - beyond_bytes;
    const std::int64_t shared_bytes = std::min(input->pool_bytes, within_bytes);
    input->headroom_bytes -= beyond_bytes;
    input->bytes -= within_bytes;
    input->pool_bytes -= shared_bytes;
    used_bytes_ -= shared_bytes;
  }

  // Whether an input that was stopped may go on: with all of its headroom, for the next stop.
  bool may_resume(const InputShare& input) const {
    return input.headroom_bytes == 0 && input.bytes <= xon_bytes();
  }

  std::int64_t xoff_bytes() const {
    if (qos_.xoff_bytes != kUnset) return qos_.xoff_bytes;
    return qos_.shared_bytes > 0 ? threshold_bytes() : buffer_bytes_ / 2;
  }
  std::int64_t xon_bytes() const {
    return qos_.xon_bytes != kUnset ? qos_.xon_bytes : xoff_bytes() / 2;
  }
  std::int64_t headroom_bytes() const { return headroom_bytes_; }

 private:
  std::int64_t scaled(std::int64_t bytes) const {
    return static_cast<std::int64_t>(static_cast<double>(bytes) *
                                     (static_cast<double>(qos_.alpha_ppm) / kMillion));
  }

  QosSettings qos_;
  std::int64_t buffer_bytes_ = 0;
  std::int64_t headroom_bytes_ = 0;
  std::int64_t used_bytes_ = 0;
};

}  // namespace fabriscope::lab
