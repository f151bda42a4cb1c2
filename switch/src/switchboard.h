// Moves frames between real ports and emulated fabrics, in real time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "fabric.h"
#include "port.h"
#include "settings.h"
#include "unique_fd.h"

namespace fabriscope::lab {

class Switchboard {
 public:
  // Opens every port. Throws std::system_error, or std::invalid_argument for an unknown fabric.
  explicit Switchboard(const Settings& settings);

  // Works until `stop_descriptor` becomes readable.
  void run(int stop_descriptor, int control_descriptor);

  std::string counters_json() const;

 private:
  struct Attachment {
    PortSettings settings;
    std::unique_ptr<Port> port;
    Fabric* fabric;
    std::size_t index;  // of the port in its fabric
  };
  struct DepthSample {
    std::int64_t at_ns;
    std::size_t attachment;
    std::int64_t queue_bytes;
  };

  bool receive(Attachment& attachment);
  bool deliver();
  void sample_depths(std::int64_t now_ns);
  std::int64_t next_event_ns() const;
  void answer(int control_descriptor);
  std::string reply_to(const std::string& request);
  std::string queues_json() const;

  std::int64_t spin_ns_;
  FramePool pool_;  // outlives the frames that fabrics hold
  FramePointer spare_;
  std::vector<std::unique_ptr<Fabric>> fabrics_;
  std::vector<Attachment> attachments_;
  UniqueFd epoll_;
  std::deque<DepthSample> depths_;
  std::int64_t next_sample_ns_ = 0;
};

}  // namespace fabriscope::lab
