// TCP sockets as the rendezvous and the tcp transport need them. Failures throw
// std::system_error with what was attempted.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "unique_fd.h"

namespace fabriscope {

// A numeric IPv4 or IPv6 address and a TCP port.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t length = 0;

  // "10.0.0.1", "10.0.0.1:4242", "fe80::1%eth0", "[::1]:4242". Never asks a name server: the
  // launcher resolves names, and the engine goes where it is told. Throws UsageError.
  static SocketAddress parse(const std::string& text);
  // The address of an interface, IPv4 before IPv6. Throws UsageError where it has none.
  static SocketAddress of_interface(const std::string& interface);
  static SocketAddress local_of(int fd);
  static SocketAddress peer_of(int fd);

  std::string text() const;
  int tcp_port() const;
  void set_tcp_port(int tcp_port);
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

UniqueFd make_socket(int family);
void bind_to_device(int fd, const std::string& interface);
void set_option(int fd, int level, int option, int value, const std::string& attempted);
int get_option(int fd, int level, int option, const std::string& attempted);

void bind_and_listen(int fd, const SocketAddress& address);
// Throws Interrupted when a signal asks for an end, std::system_error (ETIMEDOUT) past the limit.
void connect_within(int fd, const SocketAddress& address, std::int64_t timeout_ns);

// Whole buffers. A signal does not end them. The peer's end throws RunError.
void send_all(int fd, const void* data, std::size_t size_bytes);
void recv_all(int fd, void* data, std::size_t size_bytes);

}  // namespace fabriscope
