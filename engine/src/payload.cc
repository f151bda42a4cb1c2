#include "fabriscope/payload.h"

#include <algorithm>
#include <cstring>

#include "random.h"

namespace fabriscope {
namespace {

// The part of a window in flight at once while it is checked: each message has a place of its
// own then, and 64 messages of 1 MiB each way would be more memory than a small host has to spare.
constexpr std::size_t kCheckedAtOnceBytes = 4U << 20;

}  // namespace

void PayloadPattern::fill(unsigned char* data, std::size_t size_bytes, int sender,
                          std::size_t message) const {
  SplitMix random(SplitMix(seed_ ^ (static_cast<std::uint64_t>(sender) << 48U)).next() + message);
  for (std::size_t at = 0; at < size_bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(data + at, &word, std::min(sizeof word, size_bytes - at));
  }
}

std::optional<std::string> PayloadPattern::mismatch(const unsigned char* data,
                                                    std::size_t size_bytes, int sender,
                                                    std::size_t message) const {
  std::vector<unsigned char> expected(size_bytes);
  fill(expected.data(), size_bytes, sender, message);
  const auto [bad, good] = std::mismatch(data, data + size_bytes, expected.data());
  if (bad == data + size_bytes) return std::nullopt;
  return "byte " + std::to_string(bad - data) + " of " + std::to_string(size_bytes) +
         " in message " + std::to_string(message) + " from rank " + std::to_string(sender) +
         " is " + std::to_string(*bad) + ", not " + std::to_string(*good);
}

void PayloadCheck::compare(const unsigned char* data, std::size_t size_bytes, std::size_t message) {
  note(pattern_.mismatch(data, size_bytes, peer_, message));
  progress_.fetch_add(1, std::memory_order_relaxed);
}

void PayloadCheck::send(std::size_t size_bytes) {
  sent_.resize(std::max<std::size_t>(size_bytes, 1));
  pattern_.fill(sent_.data(), size_bytes, rank_, 0);
  const Use use(endpoint_, sent_);
  endpoint_.send(sent_.data(), size_bytes);
  sent_traffic_ += {static_cast<std::int64_t>(size_bytes), 1};
  progress_.fetch_add(1, std::memory_order_relaxed);
}

void PayloadCheck::recv(std::size_t size_bytes) {
  // What was there before must not look right: a transport that writes nothing would pass.
  received_.assign(std::max<std::size_t>(size_bytes, 1), 0);
  const Use use(endpoint_, received_);
  endpoint_.recv(received_.data(), size_bytes);
  received_traffic_ += {static_cast<std::int64_t>(size_bytes), 1};
  compare(received_.data(), size_bytes, 0);
}

void PayloadCheck::window(std::size_t size_bytes, std::size_t window_size, bool sends,
                          bool receives) {
  const std::size_t place = std::max<std::size_t>(size_bytes, 1);
  const std::size_t at_once = std::clamp<std::size_t>(kCheckedAtOnceBytes / place, 1, window_size);
  for (std::size_t first = 0; first < window_size; first += at_once) {
    const std::size_t count = std::min(at_once, window_size - first);
    if (receives) received_.assign(count * place, 0);
    if (sends) sent_.resize(count * place);
    const Use use_sent(endpoint_, sent_);
    const Use use_received(endpoint_, received_);
    for (std::size_t i = 0; receives && i < count; ++i) {
      endpoint_.post_recv(received_.data() + i * place, size_bytes);
    }
    for (std::size_t i = 0; sends && i < count; ++i) {
      pattern_.fill(sent_.data() + i * place, size_bytes, rank_, first + i);
      endpoint_.post_send(sent_.data() + i * place, size_bytes);
    }
    endpoint_.wait_all();
    const Traffic part{static_cast<std::int64_t>(count * size_bytes),
                       static_cast<std::int64_t>(count)};
    if (sends) sent_traffic_ += part;
    if (receives) received_traffic_ += part;
    progress_.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t i = 0; receives && i < count; ++i) {
      compare(received_.data() + i * place, size_bytes, first + i);
    }
  }
}

}  // namespace fabriscope
