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
#include "faults.h"
#include "frame.h"
#include "mac_table.h"
#include "pause.h"
#include "queue.h"

namespace fabriscope::lab {

enum class OnFull {
  kDrop,   // what does not fit into an output buffer is lost
  kPause,  // the hosts that fill it are stopped before (IEEE 802.3 annex 31B)
};

struct FabricSettings {
  std::string name;
  std::int64_t rate_bits_per_s = 0;  // 0: unlimited
  std::int64_t delay_ns = 0;         // propagation from host to host
  std::int64_t buffer_bytes = 0;     // of each output; 0: unlimited
  // Interrupt coalescing of the receiving host's card; a time of 0 hands every frame over at once.
  std::int64_t rx_coalesce_ns = 0;
  std::int64_t rx_coalesce_frames = 1;
  OnFull on_full = OnFull::kDrop;
  std::int64_t seed = 1;  // of everything that happens by chance
  Faults faults;          // of every port
};

class Fabric {
 public:
  Fabric(FabricSettings settings, std::size_t port_count, std::int64_t now_ns = 0);

  // A frame left the host of `port` at `sent_ns`.
  void accept(std::size_t port, FramePointer frame, std::int64_t sent_ns);

  // Says that every frame sent by `known_ns` has been accepted. No later one can reach the switch
  // before the shortest frame would, so everything that reaches it until then is forwarded, in
  // order.
  void advance(std::int64_t known_ns);

  // Returns the next frame to hand to the host of `port` by `now_ns`, which is at most
  // shortest_uplink_ns() after the last `known_ns`.
  Delivery next_delivery(std::size_t port, std::int64_t now_ns);

  // Returns the least time from a host into the switch. A pause frame takes as long.
  std::int64_t shortest_uplink_ns() const { return shortest_uplink_ns_; }

  // Returns when advance() and next_delivery() have something to do next if no frame comes; kNever:
  // nothing.
  std::int64_t next_event_ns() const;

  void record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns);
  void record_refusal(std::size_t port) { ++ports_[port].counters.refused_frames; }

  // Returns when the uplink of `port` is free; nothing that its host sends until then leaves
  // sooner.
  std::int64_t uplink_free_ns(std::size_t port) const;

  // Bytes that wait in or leave the output buffer of `port` at `now_ns`.
  std::int64_t queue_bytes(std::size_t port, std::int64_t now_ns) {
    return ports_[port].downlink.bytes(now_ns);
  }
  // Returns the most bytes that the output buffer of `port` held since the last call.
  std::int64_t take_queue_maximum(std::size_t port, std::int64_t now_ns);

  // What is changed while it runs, from `now_ns` on.
  void set_faults(std::size_t port, const Faults& faults, std::int64_t now_ns) {
    ports_[port].faults.set(faults, now_ns);
  }
  void set_on_full(OnFull on_full, std::int64_t now_ns);

  const FabricSettings& settings() const { return settings_; }
  std::size_t port_count() const { return ports_.size(); }
  const PortCounters& counters(std::size_t port) const { return ports_[port].counters; }
  const Faults& faults(std::size_t port) const { return ports_[port].faults.settings(); }
  const Pause& pause(std::size_t port) const { return ports_[port].pause; }
  bool is_down(std::size_t port, std::int64_t now_ns) const {
    return ports_[port].faults.is_down(now_ns);
  }
  void reset_counters(std::int64_t now_ns);

 private:
  struct Waiting {
    FramePointer frame;
    std::int64_t sent_ns;
  };
  struct Arrival {
    FramePointer frame;
    std::int64_t at_ns;        // when it is whole in the switch
    std::int64_t earliest_ns;  // when it can be at its destination if nothing is in its way
    std::size_t from;
  };
  struct Port {
    Port(const FabricSettings& settings, std::size_t index);
    Queue uplink;
    std::deque<Waiting> waiting;  // in the host, until its turn comes: while it may be paused
    std::int64_t waiting_bytes = 0;
    std::deque<Arrival> arriving;
    std::deque<Arrival> aside;  // on the way to this port, overtaken by others
    Queue downlink;
    std::vector<std::size_t> held_senders;  // those that this port's full buffer has stopped
    Pause pause;                            // of this port's own host
    Coalescer card;
    PortFaults faults;
    PortCounters counters;
  };
  enum class Step { kPauseChange, kDrained, kStart, kArrival, kAside };
  struct Event {
    std::int64_t at_ns;
    Step step;
    std::size_t port;
  };

  Event first_event() const;
  void perform(const Event& event);
  std::int64_t next_start_ns(const Port& port) const;
  void start_next(std::size_t from);
  void release_senders(Port& port, std::int64_t now_ns);
  void hold_sender(std::size_t from, Port& port, std::int64_t now_ns);
  void forward(Arrival arrival);
  void send_out(std::size_t to, Arrival arrival);
  void enqueue(Port& port, Arrival arrival);

  FabricSettings settings_;
  std::int64_t shortest_frame_ns_;
  std::int64_t shortest_uplink_ns_;
  std::int64_t pause_above_bytes_;
  std::int64_t resume_at_bytes_;
  std::int64_t forwarded_ns_ = 0;  // everything that arrived by then has been forwarded
  FramePool copies_;               // outlives the frames that ports_ hold
  std::deque<Port> ports_;         // a deque never moves its elements, which hold frames
  MacTable addresses_;
};

}  // namespace fabriscope::lab
