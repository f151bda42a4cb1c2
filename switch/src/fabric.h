// One emulated switch: cables, a learning table, and an output buffer for every port. Time is an
// argument everywhere, so that tests make it up.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <string>
#include <unordered_map>
#include <vector>

#include "frame.h"
#include "wire.h"

namespace fabriscope::lab {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

struct FabricSettings {
  std::string name;
  std::int64_t rate_bits_per_s = 0;  // 0: unlimited
  std::int64_t delay_ns = 0;         // propagation from host to host
  std::int64_t buffer_bytes = 0;     // of each output; 0: unlimited
  // Interrupt coalescing of the receiving host's card: frames are handed over together, so long
  // after the first, or when there are so many.
  std::int64_t rx_coalesce_ns = 0;
  std::int64_t rx_coalesce_frames = 1;
};

struct DirectionCounters {
  std::int64_t frames = 0;
  std::int64_t bytes = 0;
  std::int64_t wire_bytes = 0;

  void count(std::int64_t frame_bytes) {
    ++frames;
    bytes += frame_bytes;
    wire_bytes += lab::wire_bytes(frame_bytes);
  }
};

struct PortCounters {
  DirectionCounters up;    // from the host
  DirectionCounters down;  // delivered to the host
  std::int64_t dropped_frames = 0;
  std::int64_t dropped_bytes = 0;
  std::int64_t maximum_queue_bytes = 0;
  std::int64_t refused_frames = 0;  // the host's device did not take them
  // How late frames were handed over against the time the model gave them.
  std::int64_t lateness_sum_ns = 0;
  std::int64_t lateness_maximum_ns = 0;
  std::int64_t late_frames = 0;  // by more than kLateNs
};

// A delivery that is later than this is counted as late.
constexpr std::int64_t kLateNs = 20'000;

struct Delivery {
  FramePointer frame;
  std::int64_t due_ns;
};

class Fabric {
 public:
  Fabric(FabricSettings settings, std::size_t port_count);

  // A frame left the host of `port` at `now_ns`.
  void accept(std::size_t port, FramePointer frame, std::int64_t now_ns);
  // Moves every frame that has crossed its uplink by `now_ns` into output queues.
  void advance(std::int64_t now_ns);
  // Returns the next frame to hand to the host of `port` if one is due by `now_ns`; none: no frame.
  Delivery next_delivery(std::size_t port, std::int64_t now_ns);
  // Returns when something happens next without new frames; kNever when nothing will.
  std::int64_t next_event_ns() const;

  // Bytes that wait in or leave the output buffer of `port` at `now_ns`.
  std::int64_t queue_bytes(std::size_t port, std::int64_t now_ns);

  void record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns);
  void record_refusal(std::size_t port) { ++ports_[port].counters.refused_frames; }
  const FabricSettings& settings() const { return settings_; }
  std::size_t port_count() const { return ports_.size(); }
  const PortCounters& counters(std::size_t port) const { return ports_[port].counters; }
  void reset_counters();

 private:
  struct InFlight {
    FramePointer frame;
    std::int64_t at_ns;  // when it is whole at the end of its cable
  };
  struct Departure {
    std::int64_t at_ns;
    std::int64_t bytes;
  };
  struct Port {
    explicit Port(std::int64_t rate_bits_per_s)
        : uplink(rate_bits_per_s), downlink(rate_bits_per_s) {}
    Wire uplink;
    Wire downlink;
    std::deque<InFlight> going_up;
    std::deque<InFlight> going_down;
    std::deque<Departure> buffered;
    std::int64_t buffered_bytes = 0;
    // Frames of the current hand-over are released together up to this time.
    std::int64_t released_until_ns = std::numeric_limits<std::int64_t>::min();
    std::int64_t release_ns = 0;
    PortCounters counters;
  };

  void forward(std::size_t from, InFlight arrival);
  void enqueue(Port& port, FramePointer frame, std::int64_t now_ns);
  std::int64_t release_of_head(const Port& port) const;
  static void drain(Port& port, std::int64_t now_ns);

  FabricSettings settings_;
  FramePool copies_;        // outlives the frames that ports_ hold
  std::deque<Port> ports_;  // a deque never moves its elements, which hold frames
  std::unordered_map<std::uint64_t, std::size_t> port_of_address_;
};

}  // namespace fabriscope::lab
