// What the switchboard does with an emulated fabric, whatever kind of switch it is. Time is an
// argument everywhere, so that tests make it up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <utility>

#include "coalescer.h"
#include "counters.h"
#include "faults.h"
#include "frame.h"
#include "qos_settings.h"
#include "series.h"

namespace fabriscope::lab {

enum class OnFull {
  kDrop,   // what does not fit into an output buffer is lost
  kPause,  // the hosts that fill it are stopped before (IEEE 802.3 annex 31B)
};

// What a host may have in its own queue. Nothing tells a sending program that its card is busy, so
// only a bound on memory can be drawn here: it lies far above any TCP window.
constexpr std::int64_t kUplinkBytes = 64 << 20;

// Numbers of a fabric that may be changed while it runs.
struct Cables {
  std::int64_t rate_bits_per_s = 0;  // 0: unlimited
  std::int64_t delay_ns = 0;         // propagation from host to host
  std::int64_t buffer_bytes = 0;     // of each output; 0: unlimited
  // Interrupt coalescing of the receiving host's card; a time of 0 hands every frame over at once.
  std::int64_t rx_coalesce_ns = 0;
  std::int64_t rx_coalesce_frames = 1;
};

struct FabricSettings : Cables {
  std::string name;
  OnFull on_full = OnFull::kDrop;
  std::int64_t seed = 1;           // of everything that happens by chance
  Faults faults;                   // of every port
  std::optional<QosSettings> qos;  // none: one queue a port, and one switch
};

class FabricModel {
 public:
  virtual ~FabricModel() = default;

  // A frame left the host of `port` at `sent_ns`.
  virtual void accept(std::size_t port, FramePointer frame, std::int64_t sent_ns) = 0;

  // Says that every frame sent by `known_ns` has been accepted. No later one can reach the switch
  // before the shortest frame would, so everything that reaches it until then is forwarded, in
  // order.
  virtual void advance(std::int64_t known_ns) = 0;

  // Returns the next frame to hand to the host of `port` by `now_ns`, which is at most
  // shortest_uplink_ns() after the last `known_ns`.
  virtual Delivery next_delivery(std::size_t port, std::int64_t now_ns) = 0;

  // Returns the least time from a host into the switch.
  virtual std::int64_t shortest_uplink_ns() const = 0;

  // Returns when advance() and next_delivery() have something to do next if no frame comes; kNever:
  // nothing.
  virtual std::int64_t next_event_ns() const = 0;

  virtual void record_delivery(std::size_t port, std::int64_t frame_bytes,
                               std::int64_t late_ns) = 0;
  virtual void record_refusal(std::size_t port) = 0;

  // Returns when the uplink of `port` is free; nothing that its host sends until then leaves
  // sooner.
  virtual std::int64_t uplink_free_ns(std::size_t port) const = 0;

  // Bytes that wait in or leave the output buffer of `port` at `now_ns`.
  virtual std::int64_t queue_bytes(std::size_t port, std::int64_t now_ns) = 0;
  // Returns the most bytes that the output buffer of `port` held since the last call.
  virtual std::int64_t take_queue_maximum(std::size_t port, std::int64_t now_ns) = 0;

  // What is changed while it runs, from `now_ns` on.
  virtual void set_faults(std::size_t port, const Faults& faults, std::int64_t now_ns) = 0;
  virtual void set_on_full(OnFull on_full, std::int64_t now_ns) = 0;
  // Frames that are on their way keep the times that they have.
  virtual void set_cables(const Cables& cables, std::int64_t now_ns) = 0;
  virtual void set_qos(const QosSettings& /*qos*/, std::int64_t /*now_ns*/) {}

  virtual const FabricSettings& settings() const = 0;
  virtual std::size_t port_count() const = 0;
  virtual const PortCounters& counters(std::size_t port) const = 0;
  virtual const Faults& faults(std::size_t port) const = 0;
  // How often the host of `port` was stopped, and for how long in all.
  virtual std::int64_t pause_count(std::size_t port) const = 0;
  virtual std::int64_t paused_ns(std::size_t port, std::int64_t now_ns) const = 0;
  // How many frames towards the host of `port` were marked (ECN).
  virtual std::int64_t marked_frames(std::size_t /*port*/) const { return 0; }
  // The cables between switches in a row, once for each direction: from which switch, counted from
  // 1, to which, and what was counted; the queue is the fullest since the last call.
  virtual std::size_t trunk_count() const { return 0; }
  virtual std::pair<std::size_t, std::size_t> trunk_between(std::size_t /*trunk*/) const {
    return {};
  }
  virtual PortTotals take_trunk_totals(std::size_t /*trunk*/, std::int64_t /*now_ns*/) {
    return {};
  }
  virtual bool is_down(std::size_t port, std::int64_t now_ns) const = 0;
  virtual void reset_counters(std::int64_t now_ns) = 0;

  // Members of a JSON object on what only this kind of switch counts at a port, each behind a
  // comma; and objects on what is at no host, each behind `separator`, then behind commas.
  virtual void write_more(std::ostream& /*json*/, std::size_t /*port*/,
                          std::int64_t /*now_ns*/) const {}
  virtual void write_trunks(std::ostream& /*json*/, const char* /*separator*/,
                            std::int64_t /*now_ns*/) const {}
};

}  // namespace fabriscope::lab
