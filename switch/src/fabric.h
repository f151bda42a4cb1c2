// One emulated switch: cables, a learning table, and an output buffer for every port. Time is an
// argument everywhere, so that tests make it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "coalescer.h"
#include "counters.h"
#include "frame.h"
#include "mac_table.h"
#include "queue.h"

namespace fabriscope::lab {

struct FabricSettings {
  std::string name;
  std::int64_t rate_bits_per_s = 0;  // 0: unlimited
  std::int64_t delay_ns = 0;         // propagation from host to host
  std::int64_t buffer_bytes = 0;     // of each output; 0: unlimited
  // Interrupt coalescing of the receiving host's card; a time of 0 hands every frame over at once.
  std::int64_t rx_coalesce_ns = 0;
  std::int64_t rx_coalesce_frames = 1;
};

class Fabric {
 public:
  Fabric(FabricSettings settings, std::size_t port_count);

  // A frame left the host of `port` at `sent_ns`.
  void accept(std::size_t port, FramePointer frame, std::int64_t sent_ns);

  // Says that every frame sent by `known_ns` has been accepted. No later one can reach the switch
  // before the shortest frame would, so everything that reaches it until then is forwarded, in
  // order.
  void advance(std::int64_t known_ns);

  // Returns the next frame to hand to the host of `port` by `now_ns`, which is at most
  // shortest_uplink_ns() after the last `known_ns`.
  Delivery next_delivery(std::size_t port, std::int64_t now_ns);

  // Returns the least time from a host into the switch.
  std::int64_t shortest_uplink_ns() const { return shortest_uplink_ns_; }

  // Returns when advance() and next_delivery() have something to do next if no frame comes; kNever:
  // nothing.
  std::int64_t next_event_ns() const;

  void record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns);
  void record_refusal(std::size_t port) { ++ports_[port].counters.refused_frames; }

  // Returns when the uplink of `port` is free; nothing that its host sends until then leaves
  // sooner.
  std::int64_t uplink_free_ns(std::size_t port) const { return ports_[port].uplink.free_ns(); }

  // Bytes that wait in or leave the output buffer of `port` at `now_ns`.
  std::int64_t queue_bytes(std::size_t port, std::int64_t now_ns) {
    return ports_[port].downlink.bytes(now_ns);
  }
  // Returns the most bytes that the output buffer of `port` held since the last call.
  std::int64_t take_queue_maximum(std::size_t port, std::int64_t now_ns);

  const FabricSettings& settings() const { return settings_; }
  std::size_t port_count() const { return ports_.size(); }
  const PortCounters& counters(std::size_t port) const { return ports_[port].counters; }
  void reset_counters();

 private:
  struct Arrival {
    FramePointer frame;
    std::int64_t at_ns;        // when it is whole in the switch
    std::int64_t earliest_ns;  // when it can be at its destination if nothing is in its way
  };
  struct Port {
    explicit Port(const FabricSettings& settings);
    Queue uplink;
    Queue downlink;
    std::deque<Arrival> arriving;
    Coalescer card;
    PortCounters counters;
  };

  void forward(std::size_t from, Arrival arrival);
  void enqueue(Port& port, FramePointer frame, std::int64_t now_ns);

  FabricSettings settings_;
  std::int64_t shortest_frame_ns_;
  std::int64_t shortest_uplink_ns_;
  std::int64_t forwarded_ns_ = 0;  // everything that arrived by then has been forwarded
  FramePool copies_;               // outlives the frames that ports_ hold
  std::deque<Port> ports_;         // a deque never moves its elements, which hold frames
  MacTable addresses_;
};

}  // namespace fabriscope::lab
