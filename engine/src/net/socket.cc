#include "socket.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "../interrupt.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

struct HostAndService {
  std::string host;
  std::string service;
};

HostAndService split_address(const std::string& text) {
  if (!text.empty() && text[0] == '[') {
    const std::size_t close = text.find(']');
    if (close == std::string::npos) return {text, "0"};
    const std::string rest = text.substr(close + 1);
    return {text.substr(1, close - 1), rest.empty() ? "0" : rest.substr(1)};
  }
  // Two colons and no bracket: an IPv6 address without a port.
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.rfind(':') != colon) return {text, "0"};
  return {text.substr(0, colon), text.substr(colon + 1)};
}

template <typename Getter>
SocketAddress address_by(Getter getter, int fd) {
  SocketAddress address;
  address.length = sizeof address.storage;
  if (getter(fd, reinterpret_cast<sockaddr*>(&address.storage), &address.length) != 0) {
    throw system_failure("ask a socket for its address");
  }
  return address;
}

}  // namespace

SocketAddress SocketAddress::parse(const std::string& text) {
  const auto [host, service] = split_address(text);
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (host.empty() || getaddrinfo(host.c_str(), service.c_str(), &hints, &found) != 0) {
    throw UsageError("'" + text + "' is not a numeric address with an optional port");
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  SocketAddress address;
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  address.length = found->ai_addrlen;
  return address;
}

SocketAddress SocketAddress::of_interface(const std::string& interface) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) throw system_failure("list the interfaces");
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      if (interface != entry->ifa_name || entry->ifa_addr == nullptr) continue;
      if (entry->ifa_addr->sa_family != family) continue;
      SocketAddress address;
      address.length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
      std::memcpy(&address.storage, entry->ifa_addr, address.length);
      return address;
    }
  }
  throw UsageError("the interface '" + interface + "' has no IP address here");
}

SocketAddress SocketAddress::local_of(int fd) { return address_by(::getsockname, fd); }
SocketAddress SocketAddress::peer_of(int fd) { return address_by(::getpeername, fd); }

std::string SocketAddress::text() const {
  char host[NI_MAXHOST];
  if (getnameinfo(get(), length, host, sizeof host, nullptr, 0, NI_NUMERICHOST) != 0) return "?";
  const std::string port = std::to_string(tcp_port());
  if (family() == AF_INET6) return "[" + std::string(host) + "]:" + port;
  return std::string(host) + ":" + port;
}

int SocketAddress::tcp_port() const {
  return ntohs(family() == AF_INET6 ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                                    : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

void SocketAddress::set_tcp_port(int tcp_port) {
  const in_port_t network_order = htons(static_cast<std::uint16_t>(tcp_port));
  if (family() == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = network_order;
  } else {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_port = network_order;
  }
}

UniqueFd make_socket(int family) {
  UniqueFd fd(::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) throw system_failure("make a TCP socket");
  return fd;
}

void bind_to_device(int fd, const std::string& interface) {
  if (::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, interface.c_str(),
                   static_cast<socklen_t>(interface.size())) != 0) {
    throw system_failure("bind a socket to the interface '" + interface + "'");
  }
}

void set_option(int fd, int level, int option, int value, const std::string& attempted) {
  if (::setsockopt(fd, level, option, &value, sizeof value) != 0) throw system_failure(attempted);
}

int get_option(int fd, int level, int option, const std::string& attempted) {
  int value = 0;
  socklen_t length = sizeof value;
  if (::getsockopt(fd, level, option, &value, &length) != 0) throw system_failure(attempted);
  return value;
}

void bind_and_listen(int fd, const SocketAddress& address) {
  set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "reuse the address");
  if (::bind(fd, address.get(), address.length) != 0) {
    throw system_failure("bind to " + address.text());
  }
  if (::listen(fd, SOMAXCONN) != 0) throw system_failure("listen on " + address.text());
}

void connect_within(int fd, const SocketAddress& address, std::int64_t timeout_ns) {
  const std::string attempted = "connect to " + address.text();
  const int flags = ::fcntl(fd, F_GETFL);
  if (::fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0) throw system_failure(attempted);
  const std::int64_t deadline_ns = SteadyClock::now() + timeout_ns;
  if (::connect(fd, address.get(), address.length) != 0 && errno != EINPROGRESS) {
    throw system_failure(attempted);
  }
  for (;;) {
    throw_if_interrupted();
    const std::int64_t left_ns = deadline_ns - SteadyClock::now();
    pollfd waiting{fd, POLLOUT, 0};
    const int left_ms = static_cast<int>(std::max<std::int64_t>(left_ns, 0) / 1'000'000);
    const int ready = ::poll(&waiting, 1, std::min(left_ms, 500));
    if (ready > 0) break;
    if (left_ns <= 0) errno = ETIMEDOUT;
    if (left_ns <= 0 || (ready < 0 && errno != EINTR)) throw system_failure(attempted);
  }
  errno = get_option(fd, SOL_SOCKET, SO_ERROR, attempted);
  if (errno != 0) throw system_failure(attempted);
  if (::fcntl(fd, F_SETFL, flags) != 0) throw system_failure(attempted);
}

void send_all(int fd, const void* data, std::size_t size_bytes) {
  const auto* next = static_cast<const unsigned char*>(data);
  while (size_bytes > 0) {
    const ssize_t sent = ::send(fd, next, size_bytes, MSG_NOSIGNAL);
    if (sent < 0) {
      if (errno == EINTR) continue;
      throw RunError(system_failure("send to the peer").what());
    }
    next += sent;
    size_bytes -= static_cast<std::size_t>(sent);
  }
}

void recv_all(int fd, void* data, std::size_t size_bytes) {
  auto* next = static_cast<unsigned char*>(data);
  while (size_bytes > 0) {
    const ssize_t received = ::recv(fd, next, size_bytes, 0);
    if (received < 0) {
      if (errno == EINTR) continue;
      throw RunError(system_failure("receive from the peer").what());
    }
    if (received == 0) throw RunError("the peer closed its connection");
    next += received;
    size_bytes -= static_cast<std::size_t>(received);
  }
}

}  // namespace fabriscope
