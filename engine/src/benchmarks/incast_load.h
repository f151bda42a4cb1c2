// Many to one beside something else: for as long as it is told, each sender sends windows of
// messages to one rank, which asks it for the next one when the last has come.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../transports/backoff.h"
#include "fabriscope/clock.h"
#include "fabriscope/transport.h"

namespace fabriscope {

constexpr std::size_t kIncastWindow = 4;
constexpr std::size_t kWordBytes = 4;
// The first byte of a question: another window, or none any more.
constexpr unsigned char kAnotherWindow = 0;
constexpr unsigned char kNoMore = 1;

// At the rank that receives. Says over `conductor` when every stream is under way, and ends when
// something comes from there.
class IncastReceiver {
 public:
  IncastReceiver(Endpoint& conductor, const std::vector<Endpoint*>& senders, unsigned char* memory,
                 std::size_t size_bytes)
      : conductor_(conductor), memory_(memory), size_bytes_(size_bytes) {
    for (Endpoint* sender : senders) streams_.push_back({sender});
    sleeping_.reserve(senders.size() + 1);
  }

  void run() {
    conductor_.post_recv(word_, kWordBytes);
    open_count_ = streams_.size();
    begin_ns_ = SteadyClock::now();
    for (Stream& stream : streams_) ask(stream);
    for (Backoff backoff; open_count_ > 0;) {
      if (advance()) {
        backoff = Backoff();
      } else if (!sleep()) {
        backoff.wait();
      }
    }
    for (Stream& stream : streams_) tell(stream, kNoMore);
  }

 private:
  // By then the windows of TCP have opened.
  static constexpr std::int64_t kRampNs = 5'000'000;

  struct Stream {
    Endpoint* endpoint;
    std::int64_t window_count = 0;
    bool is_open = true;
  };

  static void tell(Stream& stream, unsigned char what) {
    const unsigned char question[kWordBytes] = {what};
    stream.endpoint->send(question, kWordBytes);
  }

  void ask(Stream& stream) {
    for (std::size_t i = 0; i < kIncastWindow; ++i) {
      stream.endpoint->post_recv(memory_, size_bytes_);
    }
    tell(stream, kAnotherWindow);
  }

  bool advance() {
    bool any = false;
    if (is_announced_ && !is_stopping_ && conductor_.test_all()) any = is_stopping_ = true;
    for (Stream& stream : streams_) {
      if (!stream.is_open || !stream.endpoint->test_all()) continue;
      any = true;
      if (++stream.window_count == 1) ++started_count_;
      if (is_stopping_) {
        stream.is_open = false;
        --open_count_;
      } else {
        ask(stream);
      }
    }
    announce();
    return any;
  }

  void announce() {
    const bool is_under_way = started_count_ == streams_.size();
    if (is_announced_ || !is_under_way || SteadyClock::now() - begin_ns_ < kRampNs) return;
    is_announced_ = true;
    const unsigned char word[kWordBytes] = {};
    conductor_.send(word, kWordBytes);
  }

  // Until one of them can be tested again; false where not all of them can be slept on.
  bool sleep() {
    sleeping_.clear();
    const auto watch = [this](Endpoint& endpoint) {
      const int fd = endpoint.readable_fd();
      if (fd >= 0) sleeping_.push_back({fd, POLLIN, 0});
      return fd >= 0;
    };
    if (is_announced_ && !is_stopping_ && !watch(conductor_)) return false;
    for (const Stream& stream : streams_) {
      if (stream.is_open && !watch(*stream.endpoint)) return false;
    }
    ::poll(sleeping_.data(), sleeping_.size(), -1);
    return true;
  }

  Endpoint& conductor_;
  unsigned char* memory_;
  std::size_t size_bytes_;
  std::vector<Stream> streams_;
  std::vector<pollfd> sleeping_;
  unsigned char word_[kWordBytes] = {};
  std::int64_t begin_ns_ = 0;
  std::size_t open_count_ = 0;
  std::size_t started_count_ = 0;
  bool is_announced_ = false;
  bool is_stopping_ = false;
};

// At a rank that sends; returns how many windows it sent.
inline std::int64_t answer_incast(Endpoint& endpoint, const unsigned char* memory,
                                  std::size_t size_bytes) {
  unsigned char question[kWordBytes] = {};
  for (std::int64_t window_count = 0;; ++window_count) {
    endpoint.recv(question, kWordBytes);
    if (question[0] == kNoMore) return window_count;
    for (std::size_t i = 0; i < kIncastWindow; ++i) endpoint.post_send(memory, size_bytes);
    endpoint.wait_all();
  }
}

}  // namespace fabriscope
