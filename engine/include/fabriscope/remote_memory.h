// The peer's memory, for transports that can work on it without the peer's doing: RDMA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fabriscope {

class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;

  // Set-up: opens memory of one's own to the peer, and says how the peer finds it; then the peer
  // aims at it. Throws CaseError.
  virtual std::string expose(void* data, std::size_t size_bytes) = 0;
  virtual void aim(const std::string& peers_words) = 0;

  // In the timed region. Local memory must be known (Endpoint::use_memory). flush() returns when
  // everything up to the last request that was `told` so is complete: then what was read has
  // arrived, and what was written has reached the peer's device.
  virtual void write(const void* data, std::size_t size_bytes, std::size_t remote_offset,
                     bool told) = 0;
  virtual void read(void* data, std::size_t size_bytes, std::size_t remote_offset, bool told) = 0;
  // On the 8 bytes at the start of what was aimed at, told; `found` gets what stood there.
  virtual void fetch_add(std::uint64_t* found, std::uint64_t number) = 0;
  virtual void compare_swap(std::uint64_t* found, std::uint64_t expected,
                            std::uint64_t replacement) = 0;
  virtual void flush() = 0;
  // While one looks at memory for what the peer writes: throws RunError where the connection broke.
  virtual void look() = 0;

  virtual bool has_atomics() const = 0;
};

}  // namespace fabriscope
