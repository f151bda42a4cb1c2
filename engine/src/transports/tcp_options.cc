#include "tcp_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <limits>

#include "../net/socket.h"
#include "../spec.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

int parse_int(const std::string& key, const std::string& value, int most) {
  try {
    return static_cast<int>(parse_integer(value, key, 0, most));
  } catch (const UsageError& error) {
    throw CaseError(error.what());
  }
}

std::string text_option(int fd, int level, int option) {
  std::array<char, 64> text{};
  auto length = static_cast<socklen_t>(text.size() - 1);
  if (::getsockopt(fd, level, option, text.data(), &length) != 0) return {};
  return text.data();
}

}  // namespace

TcpOptions parse_tcp_options(const OptionSet& asked, const std::string& interface) {
  constexpr int kMaxInt = std::numeric_limits<int>::max();
  TcpOptions options;
  options.interface = interface;
  for (const auto& [key, value] : asked) {
    if (key == "send_buffer_bytes") {
      options.send_buffer_bytes = parse_int(key, value, kMaxInt);
    } else if (key == "receive_buffer_bytes") {
      options.receive_buffer_bytes = parse_int(key, value, kMaxInt);
    } else if (key == "busy_poll_us") {
      options.busy_poll_us = parse_int(key, value, kMaxInt);
    } else if (key == "tcp_nodelay") {
      options.tcp_nodelay = parse_int(key, value, 1);
    } else if (key == "traffic_class") {
      options.traffic_class = parse_int(key, value, 255);
    } else if (key == "congestion_control") {
      options.congestion_control = value;
    } else if (key == "interface") {
      options.interface = value;
    } else {
      throw CaseError("the tcp transport takes no option '" + key +
                      "'; known are: busy_poll_us, congestion_control, interface, "
                      "receive_buffer_bytes, send_buffer_bytes, tcp_nodelay, traffic_class");
    }
  }
  return options;
}

void apply_tcp_options(int fd, const TcpOptions& options) {
  const auto set = [&](int level, int option, int value, const std::string& name) {
    set_option(fd, level, option, value, "set " + name + " to " + std::to_string(value));
  };
  if (!options.interface.empty()) bind_to_device(fd, options.interface);
  if (options.send_buffer_bytes) {
    set(SOL_SOCKET, SO_SNDBUF, *options.send_buffer_bytes, "send_buffer_bytes");
  }
  if (options.receive_buffer_bytes) {
    set(SOL_SOCKET, SO_RCVBUF, *options.receive_buffer_bytes, "receive_buffer_bytes");
  }
  if (options.busy_poll_us) {
    set(SOL_SOCKET, SO_BUSY_POLL, *options.busy_poll_us, "busy_poll_us");
  }
  if (options.traffic_class) {
    set(IPPROTO_IP, IP_TOS, *options.traffic_class, "traffic_class");
  }
  set(IPPROTO_TCP, TCP_NODELAY, options.tcp_nodelay, "tcp_nodelay");
  const std::string& control = options.congestion_control;
  if (!control.empty() && ::setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, control.data(),
                                       static_cast<socklen_t>(control.size())) != 0) {
    throw system_failure("set congestion_control to '" + control + "'");
  }
}

Fields effective_tcp_options(int fd) {
  const auto get = [&](int level, int option) {
    return static_cast<std::int64_t>(get_option(fd, level, option, "read a socket's options"));
  };
  Fields fields{{"send_buffer_bytes", get(SOL_SOCKET, SO_SNDBUF)},
                {"receive_buffer_bytes", get(SOL_SOCKET, SO_RCVBUF)},
                {"tcp_nodelay", get(IPPROTO_TCP, TCP_NODELAY)},
                {"busy_poll_us", get(SOL_SOCKET, SO_BUSY_POLL)},
                {"congestion_control", text_option(fd, IPPROTO_TCP, TCP_CONGESTION)},
                {"maximum_segment_bytes", get(IPPROTO_TCP, TCP_MAXSEG)},
                {"local", SocketAddress::local_of(fd).text()},
                {"remote", SocketAddress::peer_of(fd).text()}};
  const std::string interface = text_option(fd, SOL_SOCKET, SO_BINDTODEVICE);
  if (!interface.empty()) fields.emplace_back("interface", interface);
  const std::int64_t traffic_class = get(IPPROTO_IP, IP_TOS);
  if (traffic_class != 0) fields.emplace_back("traffic_class", traffic_class);
  return fields;
}

}  // namespace fabriscope
