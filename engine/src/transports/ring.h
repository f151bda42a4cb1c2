// A ring of bytes in shared memory, one writer and one reader.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fabriscope {

constexpr std::size_t kCacheLineBytes = 64;

// What both sides see. All zero is an empty ring, as fresh shared memory is. Both positions only
// grow; each has a cache line of its own, so that a writer that fills does not disturb a reader
// that empties.
struct RingPositions {
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> written;
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> consumed;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free,
              "a lock inside an atomic would not reach the other process");

// The capacity is a power of two: a position becomes a place by a mask.
class RingWriter {
 public:
  RingWriter(RingPositions& positions, unsigned char* data, std::size_t capacity_bytes)
      : positions_(positions), data_(data), capacity_bytes_(capacity_bytes) {}

  // Room for at least `wanted` bytes.
  bool has_room(std::size_t wanted) {
    if (capacity_bytes_ - (written_ - consumed_) >= wanted) return true;
    consumed_ = positions_.consumed.load(std::memory_order_acquire);
    return capacity_bytes_ - (written_ - consumed_) >= wanted;
  }

  // Copies as much as there is room for, and returns how much; the reader sees it on publish().
  std::size_t stage(const unsigned char* source, std::size_t size_bytes) {
    const std::size_t count =
        std::min<std::size_t>(size_bytes, capacity_bytes_ - (written_ - consumed_));
    const std::size_t place = written_ & (capacity_bytes_ - 1);
    const std::size_t until_end = std::min(count, capacity_bytes_ - place);
    if (until_end > 0) std::memcpy(data_ + place, source, until_end);
    if (count > until_end) std::memcpy(data_, source + until_end, count - until_end);
    written_ += count;
    return count;
  }

  void publish() { positions_.written.store(written_, std::memory_order_release); }

 private:
  RingPositions& positions_;
  unsigned char* data_;
  std::size_t capacity_bytes_;
  std::uint64_t written_ = 0;
  std::uint64_t consumed_ = 0;  // as last seen: looked at again only when the ring seems full
};

class RingReader {
 public:
  RingReader(RingPositions& positions, const unsigned char* data, std::size_t capacity_bytes)
      : positions_(positions), data_(data), capacity_bytes_(capacity_bytes) {}

  // At least `wanted` bytes have arrived.
  bool has_bytes(std::size_t wanted) {
    if (written_ - consumed_ >= wanted) return true;
    written_ = positions_.written.load(std::memory_order_acquire);
    return written_ - consumed_ >= wanted;
  }

  // Copies as much as has arrived, and returns how much; the writer gets the room on release().
  std::size_t take(unsigned char* target, std::size_t size_bytes) {
    const std::size_t count = std::min<std::size_t>(size_bytes, written_ - consumed_);
    const std::size_t place = consumed_ & (capacity_bytes_ - 1);
    const std::size_t until_end = std::min(count, capacity_bytes_ - place);
    if (until_end > 0) std::memcpy(target, data_ + place, until_end);
    if (count > until_end) std::memcpy(target + until_end, data_, count - until_end);
    consumed_ += count;
    return count;
  }

  void release() { positions_.consumed.store(consumed_, std::memory_order_release); }

 private:
  RingPositions& positions_;
  const unsigned char* data_;
  std::size_t capacity_bytes_;
  std::uint64_t written_ = 0;  // as last seen: looked at again only when the ring seems empty
  std::uint64_t consumed_ = 0;
};

}  // namespace fabriscope
