// A TAP device inside the host's network namespace: what the host sends, we read.
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "clock.h"
#include "netns.h"
#include "port.h"

namespace fabriscope::lab {
namespace {

class TapPort : public Port {
 public:
  explicit TapPort(UniqueFd tap) : tap_(std::move(tap)) {}

  int descriptor() const override { return tap_.get(); }

  bool receive(Frame& frame, std::int64_t& sent_ns) override {
    const ssize_t size = ::read(tap_.get(), frame.data.data(), frame.data.size());
    if (size > 0) {
      sent_ns = monotonic_ns();
      frame.size_bytes = static_cast<std::size_t>(size);
      return true;
    }
    if (size < 0 && errno != EAGAIN && errno != EINTR)
      throw_errno("read a frame from a TAP device");
    return false;
  }

  bool deliver(const Frame& frame) override {
    // EIO: the host set its interface down; a frame to it is lost, as on a real cable.
    return ::write(tap_.get(), frame.data.data(), frame.size_bytes) >= 0;
  }

 private:
  UniqueFd tap_;
};

void set_name(ifreq& request, const std::string& name) {
  std::snprintf(request.ifr_name, IFNAMSIZ, "%s", name.c_str());
}

void set_address(const std::string& device, const std::string& address) {
  ifreq request{};
  set_name(request, device);
  auto* bytes = reinterpret_cast<unsigned char*>(request.ifr_hwaddr.sa_data);
  if (std::sscanf(address.c_str(), "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &bytes[0], &bytes[1], &bytes[2],
                  &bytes[3], &bytes[4], &bytes[5]) != 6) {
    errno = EINVAL;
    throw_errno("read the Ethernet address '" + address + "'");
  }
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::ioctl(socket.get(), SIOCSIFHWADDR, &request) != 0)
    throw_errno("set the address of " + device);
}

}  // namespace

std::unique_ptr<Port> open_tap_port(const PortSettings& settings) {
  const InsideNetworkNamespace inside(settings.netns);
  UniqueFd tap(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (tap.get() < 0) throw_errno("open /dev/net/tun");
  ifreq request{};
  set_name(request, settings.device);
  // No offloads are announced, so the host's kernel cuts and sums every frame itself.
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (::ioctl(tap.get(), TUNSETIFF, &request) != 0)
    throw_errno("create the TAP device " + settings.device);
  if (!settings.address.empty()) set_address(settings.device, settings.address);
  return std::make_unique<TapPort>(std::move(tap));
}

}  // namespace fabriscope::lab
