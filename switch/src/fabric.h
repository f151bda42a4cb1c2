// One emulated switch: cables, a learning table, and one output buffer for every port. qos_fabric.h
// has one with priorities.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "fabric_model.h"
#include "mac_table.h"
#include "pause.h"
#include "queue.h"

namespace fabriscope::lab {

class Fabric final : public FabricModel {
 public:
  Fabric(FabricSettings settings, std::size_t port_count, std::int64_t now_ns = 0);

  void accept(std::size_t port, FramePointer frame, std::int64_t sent_ns) override;
  void advance(std::int64_t known_ns) override;
  Delivery next_delivery(std::size_t port, std::int64_t now_ns) override;

  // A pause frame takes as long.
  std::int64_t shortest_uplink_ns() const override { return shortest_uplink_ns_; }
  std::int64_t next_event_ns() const override;

  void record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns) override;
  void record_refusal(std::size_t port) override { ++ports_[port].counters.refused_frames; }

  std::int64_t uplink_free_ns(std::size_t port) const override;
  std::int64_t queue_bytes(std::size_t port, std::int64_t now_ns) override {
    return ports_[port].downlink.bytes(now_ns);
  }
  std::int64_t take_queue_maximum(std::size_t port, std::int64_t now_ns) override;

  void set_faults(std::size_t port, const Faults& faults, std::int64_t now_ns) override {
    ports_[port].faults.set(faults, now_ns);
  }
  void set_on_full(OnFull on_full, std::int64_t now_ns) override;
  void set_cables(const Cables& cables, std::int64_t now_ns) override;

  const FabricSettings& settings() const override { return settings_; }
  std::size_t port_count() const override { return ports_.size(); }
  const PortCounters& counters(std::size_t port) const override { return ports_[port].counters; }
  const Faults& faults(std::size_t port) const override { return ports_[port].faults.settings(); }
  const Pause& pause(std::size_t port) const { return ports_[port].pause; }
  std::int64_t pause_count(std::size_t port) const override { return ports_[port].pause.count(); }
  std::int64_t paused_ns(std::size_t port, std::int64_t now_ns) const override {
    return ports_[port].pause.paused_ns(now_ns);
  }
  bool is_down(std::size_t port, std::int64_t now_ns) const override {
    return ports_[port].faults.is_down(now_ns);
  }
  void reset_counters(std::int64_t now_ns) override;

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

  void reckon();
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
  std::int64_t shortest_frame_ns_ = 0;
  std::int64_t shortest_uplink_ns_ = 0;
  std::int64_t pause_above_bytes_ = 0;
  std::int64_t resume_at_bytes_ = 0;
  std::int64_t forwarded_ns_ = 0;  // everything that arrived by then has been forwarded
  FramePool copies_;               // outlives the frames that ports_ hold
  std::deque<Port> ports_;         // a deque never moves its elements, which hold frames
  MacTable addresses_;
};

}  // namespace fabriscope::lab
