#include "token_gate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <map>
#include <utility>

#include "../interrupt.h"
#include "entrance.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"
#include "socket.h"

namespace fabriscope {
namespace {

constexpr std::int64_t kGreetingLimitNs = 2'000'000'000;
constexpr std::size_t kMaxGuests = 256;
constexpr std::size_t kMaxGuestsOfSource = kMaxGuests / 2;
// Then everybody in the room is heard again, and the time is looked at.
constexpr int kAcceptsAtOnce = 32;
constexpr int kAcceptsAtClose = 4096;
constexpr int kPollMs = 100;
// After accept() failed for want of descriptors or memory.
constexpr int kScarcityMs = 10;

// Its time tells nothing of where the texts differ.
bool equal_in_constant_time(const char* left, const char* right, std::size_t size_bytes) {
  unsigned char difference = 0;
  for (std::size_t i = 0; i < size_bytes; ++i) {
    difference |= static_cast<unsigned char>(left[i] ^ right[i]);
  }
  return difference == 0;
}

// The address without its port; of IPv6 the network, since one host has all addresses of it.
std::string source_of(const SocketAddress& address) {
  if (address.family() != AF_INET6) {
    const auto* place = reinterpret_cast<const sockaddr_in*>(&address.storage);
    return {reinterpret_cast<const char*>(&place->sin_addr), sizeof place->sin_addr};
  }
  const in6_addr& place = reinterpret_cast<const sockaddr_in6*>(&address.storage)->sin6_addr;
  constexpr std::size_t kNetworkBytes = 8;
  const bool is_whole =
      IN6_IS_ADDR_LINKLOCAL(&place) || IN6_IS_ADDR_V4MAPPED(&place) || IN6_IS_ADDR_LOOPBACK(&place);
  return {reinterpret_cast<const char*>(&place), is_whole ? sizeof place : kNetworkBytes};
}

// At a connection over which nothing was sent yet, so there is room; who is gone is no concern.
bool answer(int fd, const char* text) {
  return ::send(fd, text, kVerdictBytes, MSG_DONTWAIT | MSG_NOSIGNAL) ==
         static_cast<ssize_t>(kVerdictBytes);
}

}  // namespace

std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw system_failure("draw a random token");
  }
  std::string token;
  for (const unsigned char byte : bytes) {
    token += "0123456789abcdef"[byte >> 4U];
    token += "0123456789abcdef"[byte & 15U];
  }
  return token;
}

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
    if (!greeted_.empty()) {
      Greeted first = std::move(greeted_.front());
      greeted_.pop_front();
      return first;
    }
    if (SteadyClock::now() > deadline_ns) {
      errno = ETIMEDOUT;
      throw system_failure("wait longer for a connection that presents the run's token (" +
                           std::to_string(rejected_connection_count_) + " others were dropped)");
    }
    std::vector<pollfd> waiting{{listener_, POLLIN, 0}};
    for (const Guest& guest : guests_) waiting.push_back({guest.fd.get(), POLLIN, 0});
    ::poll(waiting.data(), waiting.size(), kPollMs);
    accept_guests(kAcceptsAtOnce);
    hear_all();
  }
}

// Whatever accept() says, the gate stays open: errors of one connection that is gone already
// (ECONNABORTED, EPROTO and the network's own) pass it by, a want of descriptors ends an old one.
void TokenGate::accept_guests(int limit) {
  for (int i = 0; i < limit; ++i) {
    SocketAddress peer;
    peer.length = sizeof peer.storage;
    // Blocking sockets: they are read with MSG_DONTWAIT here and used as they are afterwards.
    UniqueFd fd(::accept4(listener_, reinterpret_cast<sockaddr*>(&peer.storage), &peer.length,
                          SOCK_CLOEXEC));
    if (fd) {
      admit(std::move(fd), source_of(peer));
      continue;
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      if (make_room({})) continue;
      ::poll(nullptr, 0, kScarcityMs);
      return;
    }
  }
}

void TokenGate::admit(UniqueFd fd, std::string source) {
  if (guests_.size() >= kMaxGuests) make_room({});
  if (count_from(source) >= kMaxGuestsOfSource) make_room(source);
  guests_.push_back({std::move(fd), std::move(source), {}, SteadyClock::now() + kGreetingLimitNs});
  decide(guests_.size() - 1);
}

std::size_t TokenGate::count_from(const std::string& source) const {
  return static_cast<std::size_t>(
      std::count_if(guests_.begin(), guests_.end(),
                    [&source](const Guest& guest) { return guest.source == source; }));
}

bool TokenGate::make_room(const std::string& source) {
  std::string crowd = source;
  if (crowd.empty()) {
    std::map<std::string, int> counts;
    int most = 0;
    for (const Guest& guest : guests_) most = std::max(most, ++counts[guest.source]);
    for (const Guest& guest : guests_) {
      if (counts[guest.source] < most) continue;
      crowd = guest.source;
      break;
    }
  }
  const auto oldest = std::find_if(guests_.begin(), guests_.end(),
                                   [&crowd](const Guest& guest) { return guest.source == crowd; });
  if (oldest == guests_.end()) return false;
  const auto index = static_cast<std::size_t>(oldest - guests_.begin());
  if (!decide(index)) reject(index);
  return true;
}

void TokenGate::hear_all() {
  for (std::size_t i = 0; i < guests_.size();) {
    if (!decide(i)) ++i;
  }
}

bool TokenGate::decide(std::size_t index) {
  const Verdict verdict = hear(guests_[index]);
  if (verdict == Verdict::kUndecided) return false;
  Guest& guest = guests_[index];
  if (verdict == Verdict::kRejected || !answer(guest.fd.get(), kWelcome)) {
    reject(index);
    return true;
  }
  greeted_.push_back({std::move(guest.fd), guest.heard.substr(4 + token_.size() + 1)});
  guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(index));
  return true;
}

// Reads no byte past the greeting: what follows belongs to the connection's use.
TokenGate::Verdict TokenGate::hear(Guest& guest) const {
  for (;;) {
    std::size_t wanted = sizeof(std::uint32_t);
    if (guest.heard.size() >= wanted) {
      std::uint32_t length = 0;
      std::memcpy(&length, guest.heard.data(), sizeof length);
      length = ntohl(length);
      if (length == 0 || length > kMaxGreetingBytes) return Verdict::kRejected;
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
  const std::string said = guest.heard.substr(sizeof(std::uint32_t));
  const bool is_known = said.size() > token_.size() &&
                        equal_in_constant_time(said.data(), token_.data(), token_.size()) &&
                        said[token_.size()] == '\n';
  if (!is_known) answer(guest.fd.get(), kRefused);
  return is_known ? Verdict::kWelcome : Verdict::kRejected;
}

void TokenGate::reject(std::size_t index) {
  guests_.erase(guests_.begin() + static_cast<std::ptrdiff_t>(index));
  ++rejected_connection_count_;
}

void TokenGate::close() {
  accept_guests(kAcceptsAtClose);
  while (!guests_.empty()) reject(guests_.size() - 1);
}

}  // namespace fabriscope
