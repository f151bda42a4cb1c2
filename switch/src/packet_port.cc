// A packet socket on the far end of the host's veth pair: where /dev/net/tun may not be opened.
#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>

#include "netns.h"
#include "port.h"

namespace fabriscope::lab {
namespace {

constexpr int kReceiveBufferBytes = 8 << 20;

class PacketPort : public Port {
 public:
  explicit PacketPort(UniqueFd socket) : socket_(std::move(socket)) {}

  int descriptor() const override { return socket_.get(); }

  bool receive(Frame& frame) override {
    const ssize_t size = ::recv(socket_.get(), frame.data.data(), frame.data.size(), MSG_DONTWAIT);
    if (size > 0) {
      frame.size_bytes = static_cast<std::size_t>(size);
      return true;
    }
    if (size < 0 && errno != EAGAIN && errno != EINTR && errno != ENETDOWN) {
      throw_errno("read a frame from a packet socket");
    }
    return false;
  }

  bool deliver(const Frame& frame) override {
    return ::send(socket_.get(), frame.data.data(), frame.size_bytes, MSG_DONTWAIT) >= 0;
  }

 private:
  UniqueFd socket_;
};

void set_flag(int socket, int option, int value, const char* what) {
  if (::setsockopt(socket, SOL_PACKET, option, &value, sizeof value) != 0) throw_errno(what);
}

// A veth pair never cuts or sums frames by itself; with these off the host's kernel does.
void turn_offloads_off(const std::string& device) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  for (const std::uint32_t command : {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO, ETHTOOL_STXCSUM}) {
    ethtool_value value{command, 0};
    ifreq request{};
    std::snprintf(request.ifr_name, IFNAMSIZ, "%s", device.c_str());
    request.ifr_data = reinterpret_cast<char*>(&value);
    if (::ioctl(socket.get(), SIOCETHTOOL, &request) != 0)
      throw_errno("turn off an offload of " + device);
  }
}

}  // namespace

std::unique_ptr<Port> open_packet_port(const PortSettings& settings) {
  {
    const InsideNetworkNamespace inside(settings.netns);
    turn_offloads_off(settings.device);
  }
  turn_offloads_off(settings.peer);
  UniqueFd socket(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.get() < 0) throw_errno("open a packet socket");
  set_flag(socket.get(), PACKET_IGNORE_OUTGOING, 1, "leave out own frames");
  set_flag(socket.get(), PACKET_QDISC_BYPASS, 1, "bypass the queueing discipline");
  const int buffer_bytes = kReceiveBufferBytes;
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUFFORCE, &buffer_bytes, sizeof buffer_bytes) !=
      0) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVBUF, &buffer_bytes, sizeof buffer_bytes);
  }
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(settings.peer.c_str()));
  if (address.sll_ifindex == 0) throw_errno("find the interface " + settings.peer);
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw_errno("bind a packet socket to " + settings.peer);
  }
  return std::make_unique<PacketPort>(std::move(socket));
}

std::unique_ptr<Port> open_port(const PortSettings& settings) {
  return settings.kind == "packet" ? open_packet_port(settings) : open_tap_port(settings);
}

}  // namespace fabriscope::lab
