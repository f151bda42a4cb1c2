#pragma once

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

namespace fabriscope {

// Page-aligned memory for messages, written once so that no page faults in the timed region.
class MessageBuffer {
 public:
  MessageBuffer() = default;
  explicit MessageBuffer(std::size_t size_bytes) : size_bytes_(size_bytes) {
    constexpr std::size_t kPageBytes = 4096;
    const std::size_t rounded = (size_bytes / kPageBytes + 1) * kPageBytes;
    data_.reset(static_cast<unsigned char*>(std::aligned_alloc(kPageBytes, rounded)));
    if (!data_) throw std::bad_alloc();
    std::memset(data_.get(), 0x5A, rounded);
  }
  unsigned char* data() { return data_.get(); }
  std::size_t size_bytes() const { return size_bytes_; }

 private:
  struct Free {
    void operator()(unsigned char* data) const { std::free(data); }
  };
  std::size_t size_bytes_ = 0;
  std::unique_ptr<unsigned char, Free> data_;
};

}  // namespace fabriscope
