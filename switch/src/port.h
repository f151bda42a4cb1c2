// How frames of one host come into the switch and go out of it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "frame.h"
#include "unique_fd.h"

namespace fabriscope::lab {

struct PortSettings {
  std::string fabric;
  std::string host;
  std::string kind;     // "tap" or "packet"
  std::string netns;    // path of the host's network namespace
  std::string device;   // the host's interface
  std::string address;  // its Ethernet address, as 02:00:00:00:00:01; tap only
  std::string peer;     // packet only: the other end of the host's veth pair, in our own namespace
  std::int64_t switch_number = 1;  // which of the fabric's switches in a row
};

class Port {
 public:
  virtual ~Port() = default;

  // The descriptor that becomes readable when the host has sent something.
  virtual int descriptor() const = 0;
  // Takes one frame of the host, and when it was sent by CLOCK_MONOTONIC; false when there is none.
  virtual bool receive(Frame& frame, std::int64_t& sent_ns) = 0;
  // Hands one frame to the host; false when its device does not take it.
  virtual bool deliver(const Frame& frame) = 0;
  // Returns the frames that the host sent and that were lost before they could be taken, since the
  // start.
  virtual std::int64_t missed_frames() { return 0; }
};

// Both throw std::system_error with what was attempted.
std::unique_ptr<Port> open_tap_port(const PortSettings& settings);
std::unique_ptr<Port> open_packet_port(const PortSettings& settings);
std::unique_ptr<Port> open_port(const PortSettings& settings);

}  // namespace fabriscope::lab
