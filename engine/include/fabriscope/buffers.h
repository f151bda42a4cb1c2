// Which memory messages come from, and go to: part of what a number means.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace fabriscope {

enum class BufferUse {
  kSame,      // what has come is sent again, from where it lies (NetPIPE, qperf)
  kSeparate,  // from a second buffer that is never written (OSU, IMB)
  kRotating,  // from and to the next places of pools that are larger than the last-level cache
};

// As the specification writes them: "separate".
std::string buffer_use_name(BufferUse use);
std::optional<BufferUse> buffer_use_by_name(const std::string& name);

// Places of messages. Of a buffer there is one, and of a pool always the next: what one case leaves
// off another one goes on with, so that no place is met again before all of the pool has been.
class Rotation {
 public:
  Rotation() = default;
  explicit Rotation(unsigned char* only) : data_(only) {}
  Rotation(unsigned char* pool, std::size_t pool_bytes, std::size_t place_bytes, std::size_t& at)
      : data_(pool), pool_bytes_(pool_bytes), stride_(stride_of(place_bytes)), at_(&at) {}

  // The first of the next `count` places, which lie `stride()` apart.
  unsigned char* next(std::size_t count = 1) {
    if (at_ == nullptr) return data_;
    const std::size_t bytes = count * stride_;
    if (*at_ + bytes > pool_bytes_) *at_ = 0;
    unsigned char* first = data_ + *at_;
    *at_ += bytes;
    return first;
  }
  // 0: all messages of a window share their place.
  std::size_t stride() const { return stride_; }

  // No two places share a line of the cache.
  static constexpr std::size_t stride_of(std::size_t place_bytes) {
    constexpr std::size_t kLineBytes = 64;
    return place_bytes == 0 ? kLineBytes : (place_bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
  }

 private:
  unsigned char* data_ = nullptr;
  std::size_t pool_bytes_ = 0;
  std::size_t stride_ = 0;
  std::size_t* at_ = nullptr;  // null: there is one place
};

}  // namespace fabriscope
