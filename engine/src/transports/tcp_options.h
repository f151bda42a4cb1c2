// The socket options that a case of the tcp transport can ask for.
#pragma once

#include <optional>
#include <string>

#include "fabriscope/fields.h"
#include "fabriscope/transport.h"

namespace fabriscope {

// What is absent is left at the system's default; TCP_NODELAY alone is on by default.
struct TcpOptions {
  std::optional<int> send_buffer_bytes;
  std::optional<int> receive_buffer_bytes;
  std::optional<int> busy_poll_us;
  std::optional<int> traffic_class;  // DSCP in its upper six bits
  int tcp_nodelay = 1;
  std::string congestion_control;
  std::string interface;
};

// `interface` is this rank's own, for when the case names none. Throws CaseError.
TcpOptions parse_tcp_options(const OptionSet& asked, const std::string& interface);
// Throws std::system_error for what the system refuses.
void apply_tcp_options(int fd, const TcpOptions& options);
// As getsockopt() tells them. Linux doubles the buffer sizes that it is asked for.
Fields effective_tcp_options(int fd);

}  // namespace fabriscope
