// Whether what was sent is what arrived. Runs before the clock, over the calls that are timed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabriscope/transport.h"

namespace fabriscope {

// What was handed to a transport, by the program's own count: no header of anybody's is in it.
struct Traffic {
  std::int64_t bytes = 0;
  std::int64_t messages = 0;

  Traffic& operator+=(const Traffic& other) {
    bytes += other.bytes;
    messages += other.messages;
    return *this;
  }
};

// What goes from the lower rank of a pair to the higher one, and back.
struct PairTraffic {
  Traffic there;
  Traffic back;
};

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

  // For what is moved without send() and recv(): what this rank sends, and what has come of the
  // peer's.
  void fill(unsigned char* data, std::size_t size_bytes) const {
    pattern_.fill(data, size_bytes, rank_, 0);
  }
  void compare(const unsigned char* data, std::size_t size_bytes, std::size_t message = 0);
  void note(std::optional<std::string> wrong) {
    if (wrong && !mismatch_) mismatch_ = std::move(wrong);
  }

  // What this rank has sent and received so far.
  const Traffic& sent() const { return sent_traffic_; }
  const Traffic& received() const { return received_traffic_; }

  // The first thing found wrong at this rank.
  const std::optional<std::string>& mismatch() const { return mismatch_; }

 private:
  // Memory that messages come from or go to, known to the endpoint as long as this lives.
  class Use {
   public:
    Use(Endpoint& endpoint, std::vector<unsigned char>& memory)
        : endpoint_(endpoint), data_(memory.data()) {
      endpoint_.use_memory(data_, memory.size());
    }
    ~Use() { endpoint_.release_memory(data_); }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Endpoint& endpoint_;
    unsigned char* data_;
  };

  Endpoint& endpoint_;
  int rank_;
  int peer_;
  PayloadPattern pattern_;
  std::atomic<std::int64_t>& progress_;
  std::optional<std::string> mismatch_;
  Traffic sent_traffic_;
  Traffic received_traffic_;
  std::vector<unsigned char> sent_;
  std::vector<unsigned char> received_;
};

}  // namespace fabriscope
