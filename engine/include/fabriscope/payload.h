// Whether what was sent is what arrived. Runs before the clock, over the calls that are timed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabriscope/transport.h"

namespace fabriscope {

// Bytes that depend on the seed, the sending rank and the message's place in its window.
class PayloadPattern {
 public:
  explicit PayloadPattern(std::uint64_t seed) : seed_(seed) {}
  void fill(unsigned char* data, std::size_t size_bytes, int sender, std::size_t message) const;
  // What is wrong with the first byte that differs, or nothing.
  std::optional<std::string> mismatch(const unsigned char* data, std::size_t size_bytes, int sender,
                                      std::size_t message) const;

 private:
  std::uint64_t seed_;
};

// Sends and checks every message of a window, each with a pattern and a place of its own.
class PayloadCheck {
 public:
  PayloadCheck(Endpoint& endpoint, int rank, int peer, std::uint64_t seed,
               std::atomic<std::int64_t>& progress)
      : endpoint_(endpoint), rank_(rank), peer_(peer), pattern_(seed), progress_(progress) {}

  // One message out by send(); one message in by recv(), compared.
  void send(std::size_t size_bytes);
  void recv(std::size_t size_bytes);
  // A window by post_send() or post_recv() or both at once, in parts of a few MiB at a time.
  void window(std::size_t size_bytes, std::size_t window_size, bool sends, bool receives);

  // The first thing found wrong at this rank.
  const std::optional<std::string>& mismatch() const { return mismatch_; }

 private:
  void compare(const unsigned char* data, std::size_t size_bytes, std::size_t message);

  Endpoint& endpoint_;
  int rank_;
  int peer_;
  PayloadPattern pattern_;
  std::atomic<std::int64_t>& progress_;
  std::optional<std::string> mismatch_;
  std::vector<unsigned char> sent_;
  std::vector<unsigned char> received_;
};

}  // namespace fabriscope
