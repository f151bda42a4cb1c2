// Moves frames between real ports and emulated fabrics, in real time.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "awake.h"
#include "fabric_model.h"
#include "port.h"
#include "series.h"
#include "settings.h"
#include "unique_fd.h"

namespace fabriscope::lab {

class Switchboard {
 public:
  // Opens every port. Throws std::system_error, or std::invalid_argument for an unknown fabric.
  explicit Switchboard(const Settings& settings);

  // Works until `stop_descriptor` becomes readable.
  void run(int stop_descriptor, int control_descriptor);

  std::string counters_json();

 private:
  struct Attachment {
    PortSettings settings;
    std::unique_ptr<Port> port;
    FabricModel* fabric;
    std::size_t index;           // of the port in its fabric
    std::int64_t missed_before;  // frames missed by the last reset
    bool is_watched;             // a frame of its host wakes us up
  };

  // Takes what the hosts have sent; returns a moment by which everything sent is known, and sets
  // `any`.
  std::int64_t receive(bool& any);
  bool deliver(Attachment& attachment, std::int64_t known_ns);
  bool serve_descriptors(int control_descriptor);
  void acknowledge(const epoll_event& event);
  std::int64_t choose_watched(std::int64_t now_ns);
  void sample_ports(std::int64_t now_ns);
  PortTotals totals_of(const Attachment& attachment, std::int64_t now_ns) const;
  std::int64_t next_event_ns() const;
  void answer(int control_descriptor);
  void write_port(std::ostream& json, const Attachment& attachment) const;
  void write_trunks(std::ostream& json) const;
  std::string reply_to(const std::string& request);
  std::string apply(const Change& change);
  std::string settings_of(const Change& named) const;
  std::string series_json(std::int64_t since_unix_ns);

  std::int64_t awake_ns_;
  Awake awake_;
  FramePool pool_;  // outlives the frames that fabrics hold
  FramePointer spare_;
  std::vector<std::unique_ptr<FabricModel>> fabrics_;
  std::vector<Attachment> attachments_;
  UniqueFd epoll_;
  Series series_;
  std::int64_t sampled_ns_ = 0;
  std::int64_t next_sample_ns_ = 0;
  std::int64_t news_ns_ = 0;  // since when something may have happened
  bool has_news_ = false;     // something may have happened since the ports were sampled
};

}  // namespace fabriscope::lab
