#include "fabric.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabriscope::lab {
namespace {

// What a host may have in its own queue. Nothing tells a sending program that its card is busy, so
// only a bound on memory can be drawn here: it lies far above any TCP window.
constexpr std::int64_t kUplinkBytes = 64 << 20;

std::int64_t size_of(const FramePointer& frame) {
  return static_cast<std::int64_t>(frame->size_bytes);
}

}  // namespace

Fabric::Port::Port(const FabricSettings& settings)
    : uplink(settings.rate_bits_per_s, kUplinkBytes),
      downlink(settings.rate_bits_per_s, settings.buffer_bytes),
      card(settings.rx_coalesce_ns, settings.rx_coalesce_ns > 0 ? settings.rx_coalesce_frames : 1) {
}

Fabric::Fabric(FabricSettings settings, std::size_t port_count)
    : settings_(std::move(settings)),
      shortest_frame_ns_(Wire(settings_.rate_bits_per_s).pass(0, kMinimumFrameBytes)),
      shortest_uplink_ns_(shortest_frame_ns_ + settings_.delay_ns) {
  for (std::size_t port = 0; port < port_count; ++port) ports_.emplace_back(settings_);
}

void Fabric::accept(std::size_t port, FramePointer frame, std::int64_t sent_ns) {
  Port& from = ports_[port];
  const std::int64_t frame_bytes = size_of(frame);
  const auto left_ns = from.uplink.pass(sent_ns, frame_bytes);
  if (!left_ns) {
    ++from.counters.uplink_dropped_frames;
    return;
  }
  from.counters.up.count(frame_bytes);
  from.counters.uplink_maximum_queue_bytes =
      std::max(from.counters.uplink_maximum_queue_bytes, from.uplink.bytes(sent_ns));
  const std::int64_t at_ns = *left_ns + settings_.delay_ns;
  const std::int64_t earliest_ns = Wire(settings_.rate_bits_per_s).pass(at_ns, frame_bytes);
  from.arriving.push_back({std::move(frame), at_ns, earliest_ns});
}

void Fabric::advance(std::int64_t known_ns) {
  const std::int64_t horizon_ns = known_ns + shortest_uplink_ns_;
  while (true) {
    // Frames meet in the switch in the order in which they arrived there, whatever their port.
    std::size_t first = ports_.size();
    std::int64_t first_ns = kNever;
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      const auto& arriving = ports_[port].arriving;
      if (!arriving.empty() && arriving.front().at_ns < first_ns) {
        first = port;
        first_ns = arriving.front().at_ns;
      }
    }
    if (first_ns > horizon_ns || first == ports_.size()) return;
    Arrival arrival = std::move(ports_[first].arriving.front());
    ports_[first].arriving.pop_front();
    // A frame whose time stamp was late in becoming visible takes its place behind those already
    // forwarded.
    forwarded_ns_ = arrival.at_ns = std::max(arrival.at_ns, forwarded_ns_);
    forward(first, std::move(arrival));
  }
}

void Fabric::forward(std::size_t from, Arrival arrival) {
  addresses_.learn(*arrival.frame, from);
  if (const auto to = addresses_.find(*arrival.frame)) {
    // A switch never sends a frame back where it came from.
    if (*to != from) enqueue(ports_[*to], std::move(arrival.frame), arrival.at_ns);
    return;
  }
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    if (port == from) continue;
    FramePointer copy = copies_.take();
    copy->size_bytes = arrival.frame->size_bytes;
    std::memcpy(copy->data.data(), arrival.frame->data.data(), arrival.frame->size_bytes);
    enqueue(ports_[port], std::move(copy), arrival.at_ns);
  }
}

void Fabric::enqueue(Port& port, FramePointer frame, std::int64_t now_ns) {
  const auto left_ns = port.downlink.pass(now_ns, size_of(frame));
  if (!left_ns) {
    ++port.counters.dropped_frames;
    port.counters.dropped_bytes += size_of(frame);
    return;
  }
  port.counters.maximum_queue_bytes =
      std::max(port.counters.maximum_queue_bytes, port.downlink.bytes(now_ns));
  port.card.add(std::move(frame), *left_ns);
}

Delivery Fabric::next_delivery(std::size_t port, std::int64_t now_ns) {
  return ports_[port].card.take(now_ns);
}

std::int64_t Fabric::next_event_ns() const {
  std::int64_t next_ns = kNever;
  for (const Port& port : ports_) {
    next_ns = std::min(next_ns, port.card.next_ns());
    if (!port.arriving.empty()) next_ns = std::min(next_ns, port.arriving.front().earliest_ns);
  }
  return next_ns;
}

void Fabric::record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns) {
  ports_[port].counters.down.count(frame_bytes);
  ports_[port].counters.record_lateness(late_ns);
}

std::int64_t Fabric::take_queue_maximum(std::size_t port, std::int64_t now_ns) {
  ports_[port].downlink.bytes(now_ns);
  return ports_[port].downlink.take_maximum_bytes();
}

void Fabric::reset_counters() {
  for (Port& port : ports_) port.counters = PortCounters{};
}

}  // namespace fabriscope::lab
