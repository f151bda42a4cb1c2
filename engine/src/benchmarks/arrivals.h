// What arrived of several streams, and when: bytes of each in intervals of equal length, in memory
// that is there before the clock starts.
#pragma once

#include <poll.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../transports/backoff.h"
#include "fabriscope/burst_timer.h"
#include "fabriscope/clock.h"
#include "fabriscope/transport.h"

namespace fabriscope {

class Arrivals {
 public:
  // No more intervals than this of an operation, however long it is.
  static constexpr std::int64_t kMostIntervals = 1000;
  static constexpr std::int64_t kLeastIntervalNs = 10'000'000;

  Arrivals() = default;
  // `timer` is told of all that arrives; an operation lasts as long as the wire takes for what
  // senders and their kernels hold.
  Arrivals(const std::vector<Endpoint*>& endpoints, std::size_t operation_count,
           std::int64_t duration_ns, const BurstTimer& timer)
      : timer_(&timer),
        interval_ns_(
            std::max(kLeastIntervalNs, (duration_ns + kMostIntervals - 1) / kMostIntervals)),
        interval_count_(static_cast<std::size_t>((duration_ns + interval_ns_ - 1) / interval_ns_)),
        bytes_(operation_count * endpoints.size() * (interval_count_ + 1)) {
    for (Endpoint* endpoint : endpoints) streams_.push_back({endpoint});
    sleeping_.reserve(endpoints.size());
  }

  std::int64_t interval_ns() const { return interval_ns_; }

  // Whether what has come of a message is seen before the message is whole, of every stream.
  bool sees_parts() const {
    return std::none_of(streams_.begin(), streams_.end(), [](const Stream& stream) {
      return stream.endpoint->partly_arrived_bytes() < 0;
    });
  }

  // The next operation begins.
  void begin(std::int64_t now_ns) {
    begin_ns_ = now_ns_ = now_ns;
    operation_ = operation_count_++;
    for (Stream& stream : streams_) {
      stream.since_ns = now_ns;
      stream.counted_bytes = stream.endpoint->partly_arrived_bytes();
      stream.is_open = true;
    }
  }

  // A round begins: no byte that comes from now on was under way before.
  void begin_round(std::int64_t now_ns) {
    for (Stream& stream : streams_) stream.since_ns = now_ns;
  }

  // True once all that was posted at this stream's endpoint has arrived. What has come of a message
  // that is not whole is counted as well, where the transport can tell.
  bool come_further(std::size_t index) {
    Stream& stream = streams_[index];
    stream.is_open = true;
    const bool done = stream.endpoint->test_all();
    if (!done && stream.counted_bytes >= 0) count_part(index);
    return done;
  }

  // A message (or a window of them) of this many bytes is whole.
  void add_message(std::size_t index, std::size_t size_bytes) {
    Stream& stream = streams_[index];
    const auto bytes = static_cast<std::int64_t>(size_bytes);
    now_ns_ = SteadyClock::now();
    if (stream.counted_bytes >= 0) {
      add(index, now_ns_, bytes - stream.counted_bytes);
      stream.counted_bytes = 0;
    } else {
      spread(index, stream.since_ns, now_ns_, bytes);
    }
    stream.since_ns = now_ns_;
  }

  // Nothing more is waited for of this stream.
  void close(std::size_t index) { streams_[index].is_open = false; }

  // Calls `advance` for each stream in turn until `is_over`; sleeps while none of them comes
  // further.
  template <typename Advance, typename IsOver>
  void wait(Advance&& advance, IsOver&& is_over) {
    for (Backoff backoff; !is_over();) {
      bool any = false;
      for (std::size_t i = 0; i < streams_.size(); ++i) any = advance(i) || any;
      if (any) {
        backoff = Backoff();
      } else if (!sleep()) {
        backoff.wait();
      }
    }
  }

  // Of each stream, the bytes of each interval; the last number is what came after them.
  std::vector<std::vector<std::int64_t>> of_operation(std::size_t operation) const {
    std::vector<std::vector<std::int64_t>> all;
    const auto width = static_cast<std::ptrdiff_t>(interval_count_ + 1);
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      const auto first =
          bytes_.begin() + static_cast<std::ptrdiff_t>(operation * streams_.size() + i) * width;
      all.emplace_back(first, first + width);
    }
    return all;
  }

 private:
  struct Stream {
    Endpoint* endpoint = nullptr;
    std::int64_t since_ns = 0;       // when its message before was whole
    std::int64_t counted_bytes = 0;  // of the one under way; -1: the transport cannot tell
    bool is_open = false;
  };

  void count_part(std::size_t index) {
    Stream& stream = streams_[index];
    const std::int64_t bytes = stream.endpoint->partly_arrived_bytes();
    if (bytes == stream.counted_bytes) return;
    now_ns_ = SteadyClock::now();
    add(index, now_ns_, bytes - stream.counted_bytes);
    stream.counted_bytes = bytes;
  }

  std::size_t interval_at(std::int64_t at_ns) const {
    const auto interval =
        static_cast<std::size_t>(std::max<std::int64_t>(at_ns - begin_ns_, 0) / interval_ns_);
    return std::min(interval, interval_count_);
  }
  void add(std::size_t index, std::int64_t at_ns, std::int64_t bytes) {
    bytes_[(operation_ * streams_.size() + index) * (interval_count_ + 1) + interval_at(at_ns)] +=
        bytes;
    timer_->come_further();
  }

  // Evenly over the time in which it came: what is not whole cannot be seen.
  void spread(std::size_t index, std::int64_t from_ns, std::int64_t to_ns, std::int64_t bytes) {
    const std::int64_t all_ns = std::max<std::int64_t>(to_ns - from_ns, 1);
    const std::size_t last = interval_at(to_ns);
    std::int64_t left = bytes;
    for (std::size_t at = interval_at(from_ns); at < last; ++at) {
      const std::int64_t end_ns = begin_ns_ + static_cast<std::int64_t>(at + 1) * interval_ns_;
      const auto part = static_cast<std::int64_t>(static_cast<double>(bytes) *
                                                      static_cast<double>(end_ns - from_ns) /
                                                      static_cast<double>(all_ns) -
                                                  static_cast<double>(bytes - left));
      add(index, end_ns - 1, part);
      left -= part;
    }
    add(index, to_ns, left);
  }

  bool sleep() {
    sleeping_.clear();
    for (const Stream& stream : streams_) {
      if (!stream.is_open) continue;
      const int fd = stream.endpoint->readable_fd();
      if (fd < 0) return false;
      sleeping_.push_back({fd, POLLIN, 0});
    }
    ::poll(sleeping_.data(), sleeping_.size(), -1);
    return true;
  }

  const BurstTimer* timer_ = nullptr;
  std::int64_t interval_ns_ = kLeastIntervalNs;
  std::size_t interval_count_ = 0;
  std::vector<std::int64_t> bytes_;  // by operation, stream, interval
  std::vector<Stream> streams_;
  std::vector<pollfd> sleeping_;
  std::int64_t begin_ns_ = 0;
  std::int64_t now_ns_ = 0;
  std::size_t operation_ = 0;
  std::size_t operation_count_ = 0;
};

}  // namespace fabriscope
