#include "token_gate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstring>
#include <utility>

#include "../interrupt.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr std::int64_t kGreetingLimitNs = 2'000'000'000;
constexpr std::size_t kMaxGreetingBytes = 1024;
constexpr std::size_t kMaxGuests = 64;
constexpr int kPollMs = 100;

// Its time tells nothing of where the texts differ.
bool equal_in_constant_time(const char* left, const char* right, std::size_t size_bytes) {
  unsigned char difference = 0;
  for (std::size_t i = 0; i < size_bytes; ++i) {
    difference |= static_cast<unsigned char>(left[i] ^ right[i]);
  }
  return difference == 0;
}

}  // namespace

TokenGate::TokenGate(int listener, std::string token)
    : listener_(listener), token_(std::move(token)) {
  if (token_.empty()) throw UsageError("a run over TCP needs a token");
  const int flags = ::fcntl(listener_, F_GETFL);
  if (::fcntl(listener_, F_SETFL, flags | O_NONBLOCK) != 0) throw system_failure("listen");
}

TokenGate::~TokenGate() = default;

Greeted TokenGate::next(std::int64_t timeout_ns) {
  const std::int64_t deadline_ns = SteadyClock::now() + timeout_ns;
  for (;;) {
    throw_if_interrupted();
    std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
    for (const Guest& guest : guests_) waiting.push_back({guest.fd.get(), POLLIN, 0});
    ::poll(waiting.data(), waiting.size(), kPollMs);
    accept_guests();
    for (std::size_t i = guests_.size(); i-- > 0;) {
      const Verdict verdict = hear(guests_[i]);
      if (verdict == Verdict::kRejected) reject(i);
      if (verdict != Verdict::kWelcome) continue;
      Greeted greeted{std::move(guests_[i].fd), guests_[i].heard.substr(4 + token_.size() + 1)};
      guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(i));
      return greeted;
    }
    if (SteadyClock::now() > deadline_ns) {
      errno = ETIMEDOUT;
      throw system_failure("wait longer for a connection that presents the run's token");
    }
  }
}

void TokenGate::accept_guests() {
  for (;;) {
    // Blocking sockets: they are read with MSG_DONTWAIT here and used as they are afterwards.
    UniqueFd fd(::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) return;
    if (guests_.size() >= kMaxGuests) reject(0);
    guests_.push_back({std::move(fd), {}, SteadyClock::now() + kGreetingLimitNs});
  }
}

// Reads no byte past the greeting: what follows belongs to the connection's use.
TokenGate::Verdict TokenGate::hear(Guest& guest) const {
  for (;;) {
    std::size_t wanted = sizeof(std::uint32_t);
    if (guest.heard.size() >= wanted) {
      std::uint32_t length = 0;
      std::memcpy(&length, guest.heard.data(), sizeof length);
      length = ntohl(length);
      if (length <= token_.size() || length > kMaxGreetingBytes) return Verdict::kRejected;
      wanted += length;
      if (guest.heard.size() == wanted) break;
    }
    char part[kMaxGreetingBytes];
    const ssize_t count = ::recv(guest.fd.get(), part, wanted - guest.heard.size(), MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) {
      return SteadyClock::now() > guest.deadline_ns ? Verdict::kRejected : Verdict::kUndecided;
    }
    if (count <= 0) return Verdict::kRejected;
    guest.heard.append(part, static_cast<std::size_t>(count));
  }
  const char* said = guest.heard.data() + sizeof(std::uint32_t);
  const bool known = equal_in_constant_time(said, token_.data(), token_.size());
  return known && said[token_.size()] == '\n' ? Verdict::kWelcome : Verdict::kRejected;
}

void TokenGate::reject(std::size_t index) {
  guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(index));
  ++rejected_connection_count_;
}

void TokenGate::close() {
  accept_guests();
  while (!guests_.empty()) reject(guests_.size() - 1);
}

}  // namespace fabriscope
