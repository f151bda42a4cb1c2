// A packet socket on the far end of the host's veth pair. The kernel stamps every frame as the host
// sends it and writes it into a ring that we share, so reading costs no system call, and a late
// look at it is not a late frame.
#include <arpa/inet.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "clock.h"
#include "netns.h"
#include "port.h"

namespace fabriscope::lab {
namespace {

constexpr std::size_t kBlockBytes = 1 << 17;
constexpr std::size_t kRingBytes = 8 << 20;

// Memory that the kernel writes frames into.
class Ring {
 public:
  Ring(int socket, std::size_t slot_bytes)
      : slot_bytes_(slot_bytes), slots_(kRingBytes / slot_bytes) {
    tpacket_req request{};
    request.tp_block_size = kBlockBytes;
    request.tp_block_nr = kRingBytes / kBlockBytes;
    request.tp_frame_size = static_cast<unsigned>(slot_bytes);
    request.tp_frame_nr = static_cast<unsigned>(slots_);
    if (::setsockopt(socket, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) != 0) {
      throw_errno("make a ring of received frames");
    }
    void* memory = ::mmap(nullptr, kRingBytes, PROT_READ | PROT_WRITE, MAP_SHARED, socket, 0);
    if (memory == MAP_FAILED) throw_errno("map a ring of received frames");
    memory_ = static_cast<unsigned char*>(memory);
  }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring() { ::munmap(memory_, kRingBytes); }

  // Returns the oldest frame, or nullptr when there is none.
  const tpacket2_hdr* front() const {
    const auto* header = reinterpret_cast<const tpacket2_hdr*>(slot());
    const auto status = __atomic_load_n(&header->tp_status, __ATOMIC_ACQUIRE);
    return (status & TP_STATUS_USER) != 0 ? header : nullptr;
  }
  void pop() {
    auto* header = reinterpret_cast<tpacket2_hdr*>(slot());
    __atomic_store_n(&header->tp_status, std::uint32_t{TP_STATUS_KERNEL}, __ATOMIC_RELEASE);
    next_ = next_ + 1 == slots_ ? 0 : next_ + 1;
  }

 private:
  // A slot never crosses the end of a block, since its size divides a block's.
  unsigned char* slot() const { return memory_ + next_ * slot_bytes_; }

  unsigned char* memory_ = nullptr;
  std::size_t slot_bytes_;
  std::size_t slots_;
  std::size_t next_ = 0;
};

class PacketPort : public Port {
 public:
  PacketPort(UniqueFd socket, std::size_t slot_bytes)
      : socket_(std::move(socket)), ring_(socket_.get(), slot_bytes) {}

  int descriptor() const override { return socket_.get(); }

  bool receive(Frame& frame, std::int64_t& sent_ns) override {
    while (const tpacket2_hdr* header = ring_.front()) {
      const bool is_whole =
          header->tp_snaplen == header->tp_len && header->tp_len <= frame.data.size();
      if (is_whole) {
        std::memcpy(frame.data.data(),
                    reinterpret_cast<const unsigned char*>(header) + header->tp_mac,
                    header->tp_len);
        frame.size_bytes = header->tp_len;
        sent_ns = stamps_.monotonic(
            static_cast<std::int64_t>(header->tp_sec) * 1'000'000'000 + header->tp_nsec,
            monotonic_ns());
      }
      ring_.pop();
      if (is_whole) return true;
      ++missed_frames_;  // larger than the MTU allows
    }
    return false;
  }

  bool deliver(const Frame& frame) override {
    return ::send(socket_.get(), frame.data.data(), frame.size_bytes, MSG_DONTWAIT) >= 0;
  }

  std::int64_t missed_frames() override {
    tpacket_stats stats{};
    socklen_t size = sizeof stats;
    // The kernel resets its count with every answer.
    if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &stats, &size) == 0) {
      missed_frames_ += stats.tp_drops;
    }
    return missed_frames_;
  }

 private:
  UniqueFd socket_;
  Ring ring_;
  StampClock stamps_;
  std::int64_t missed_frames_ = 0;
};

void set_option(int socket, int option, int value, const char* what) {
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
    if (::ioctl(socket.get(), SIOCETHTOOL, &request) != 0) {
      throw_errno("turn off an offload of " + device);
    }
  }
}

std::size_t mtu_bytes(const std::string& device) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::snprintf(request.ifr_name, IFNAMSIZ, "%s", device.c_str());
  if (::ioctl(socket.get(), SIOCGIFMTU, &request) != 0) throw_errno("read the MTU of " + device);
  return static_cast<std::size_t>(request.ifr_mtu);
}

// Returns the least power of two that holds a frame, its header, and the kernel's notes on it.
std::size_t slot_bytes(std::size_t mtu_bytes) {
  constexpr std::size_t kNotesBytes = TPACKET2_HDRLEN + 64;
  std::size_t bytes = 2048;
  while (bytes < mtu_bytes + ETH_HLEN + kNotesBytes) bytes *= 2;
  return bytes;
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
  set_option(socket.get(), PACKET_IGNORE_OUTGOING, 1, "leave out own frames");
  set_option(socket.get(), PACKET_QDISC_BYPASS, 1, "bypass the queueing discipline");
  set_option(socket.get(), PACKET_VERSION, TPACKET_V2, "choose the ring's version");
  auto port = std::make_unique<PacketPort>(std::move(socket), slot_bytes(mtu_bytes(settings.peer)));
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(::if_nametoindex(settings.peer.c_str()));
  if (address.sll_ifindex == 0) throw_errno("find the interface " + settings.peer);
  if (::bind(port->descriptor(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw_errno("bind a packet socket to " + settings.peer);
  }
  return port;
}

std::unique_ptr<Port> open_port(const PortSettings& settings) {
  return settings.kind == "packet" ? open_packet_port(settings) : open_tap_port(settings);
}

}  // namespace fabriscope::lab
