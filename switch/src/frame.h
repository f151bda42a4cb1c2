// One Ethernet frame, without its check sequence.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fabriscope::lab {

constexpr std::size_t kMaximumFrameBytes = 9018;

struct Frame {
  std::array<unsigned char, kMaximumFrameBytes> data;
  std::size_t size_bytes = 0;
};

class FramePool;

struct ReturnToPool {
  FramePool* pool = nullptr;
  void operator()(Frame* frame) const;
};

using FramePointer = std::unique_ptr<Frame, ReturnToPool>;

inline std::int64_t size_of(const FramePointer& frame) {
  return static_cast<std::int64_t>(frame->size_bytes);
}

// Keeps frames for use again: the switch allocates only while it has never been so full before.
class FramePool {
 public:
  FramePool() = default;
  FramePool(const FramePool&) = delete;
  FramePool& operator=(const FramePool&) = delete;
  ~FramePool() {
    for (Frame* frame : free_) delete frame;
  }

  FramePointer take() {
    if (free_.empty()) return FramePointer(new Frame, ReturnToPool{this});
    Frame* frame = free_.back();
    free_.pop_back();
    return FramePointer(frame, ReturnToPool{this});
  }

 private:
  friend struct ReturnToPool;
  std::vector<Frame*> free_;
};

inline void ReturnToPool::operator()(Frame* frame) const { pool->free_.push_back(frame); }

}  // namespace fabriscope::lab
