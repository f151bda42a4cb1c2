// The arithmetic of a wire: how long frames occupy it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace fabriscope::lab {

// Preamble and start delimiter 8, frame check sequence 4, interframe gap 12 (IEEE 802.3).
constexpr std::int64_t kWireOverheadBytes = 24;
// A frame without its check sequence is padded to 60 bytes.
constexpr std::int64_t kMinimumFrameBytes = 60;

inline std::int64_t wire_bytes(std::int64_t frame_bytes) {
  return (frame_bytes < kMinimumFrameBytes ? kMinimumFrameBytes : frame_bytes) + kWireOverheadBytes;
}

// One direction of one cable. Frames follow each other without overlap; the part of a nanosecond
// that a frame leaves over is carried to the next one, so that no rate drifts.
class Wire {
 public:
  explicit Wire(std::int64_t rate_bits_per_s) : rate_bits_per_s_(rate_bits_per_s) {}

  // From the next frame on; what is on the wire takes the time that it began with.
  void set_rate(std::int64_t rate_bits_per_s) {
    rate_bits_per_s_ = rate_bits_per_s;
    remainder_ = 0;
  }

  // Returns when the last bit of a frame that is ready at `ready_ns` has passed. A rate of 0 takes
  // no time.
  std::int64_t pass(std::int64_t ready_ns, std::int64_t frame_bytes) {
    if (rate_bits_per_s_ == 0) return std::max(ready_ns, free_ns_);
    if (ready_ns > free_ns_) {
      free_ns_ = ready_ns;
      remainder_ = 0;
    }
    const std::int64_t bit_nanoseconds = wire_bytes(frame_bytes) * 8 * 1'000'000'000 + remainder_;
    free_ns_ += bit_nanoseconds / rate_bits_per_s_;
    remainder_ = bit_nanoseconds % rate_bits_per_s_;
    return free_ns_;
  }

  // Returns when the wire is free again; in the past if it is.
  std::int64_t free_ns() const { return free_ns_; }

 private:
  std::int64_t rate_bits_per_s_;
  std::int64_t free_ns_ = 0;
  std::int64_t remainder_ = 0;
};

}  // namespace fabriscope::lab
