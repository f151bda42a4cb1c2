#include "fabric.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabriscope::lab {
namespace {

constexpr std::size_t kAddressBytes = 6;

std::uint64_t address_at(const Frame& frame, std::size_t offset) {
  std::uint64_t address = 0;
  std::memcpy(&address, frame.data.data() + offset, kAddressBytes);
  return address;
}

bool is_group(const Frame& frame) { return (frame.data[0] & 1U) != 0; }

}  // namespace

Fabric::Fabric(FabricSettings settings, std::size_t port_count) : settings_(std::move(settings)) {
  for (std::size_t port = 0; port < port_count; ++port)
    ports_.emplace_back(settings_.rate_bits_per_s);
}

void Fabric::accept(std::size_t port, FramePointer frame, std::int64_t now_ns) {
  Port& from = ports_[port];
  const auto size_bytes = static_cast<std::int64_t>(frame->size_bytes);
  from.counters.up.count(size_bytes);
  const std::int64_t at_ns = from.uplink.pass(now_ns, size_bytes);
  from.going_up.push_back({std::move(frame), at_ns});
}

void Fabric::advance(std::int64_t now_ns) {
  while (true) {
    // Frames meet in the switch in the order in which they arrived there, whatever their port.
    std::size_t first = ports_.size();
    for (std::size_t port = 0; port < ports_.size(); ++port) {
      if (ports_[port].going_up.empty()) continue;
      if (first == ports_.size() ||
          ports_[port].going_up.front().at_ns < ports_[first].going_up.front().at_ns) {
        first = port;
      }
    }
    if (first == ports_.size() || ports_[first].going_up.front().at_ns > now_ns) return;
    InFlight arrival = std::move(ports_[first].going_up.front());
    ports_[first].going_up.pop_front();
    forward(first, std::move(arrival));
  }
}

void Fabric::forward(std::size_t from, InFlight arrival) {
  port_of_address_[address_at(*arrival.frame, kAddressBytes)] = from;
  const auto known = port_of_address_.find(address_at(*arrival.frame, 0));
  if (!is_group(*arrival.frame) && known != port_of_address_.end()) {
    if (known->second == from) return;  // a switch never sends a frame back where it came from
    enqueue(ports_[known->second], std::move(arrival.frame), arrival.at_ns);
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
  drain(port, now_ns);
  const auto size_bytes = static_cast<std::int64_t>(frame->size_bytes);
  if (settings_.buffer_bytes > 0 && port.buffered_bytes + size_bytes > settings_.buffer_bytes) {
    ++port.counters.dropped_frames;
    port.counters.dropped_bytes += size_bytes;
    return;
  }
  const std::int64_t left_ns = port.downlink.pass(now_ns, size_bytes);
  port.buffered.push_back({left_ns, size_bytes});
  port.buffered_bytes += size_bytes;
  port.counters.maximum_queue_bytes =
      std::max(port.counters.maximum_queue_bytes, port.buffered_bytes);
  port.going_down.push_back({std::move(frame), left_ns + settings_.delay_ns});
}

void Fabric::drain(Port& port, std::int64_t now_ns) {
  while (!port.buffered.empty() && port.buffered.front().at_ns <= now_ns) {
    port.buffered_bytes -= port.buffered.front().bytes;
    port.buffered.pop_front();
  }
}

std::int64_t Fabric::release_of_head(const Port& port) const {
  const std::int64_t first_ns = port.going_down.front().at_ns;
  if (first_ns <= port.released_until_ns) return port.release_ns;
  if (settings_.rx_coalesce_ns == 0) return first_ns;
  const std::int64_t patience_ns = first_ns + settings_.rx_coalesce_ns;
  const auto company = static_cast<std::size_t>(settings_.rx_coalesce_frames);
  if (company > 0 && port.going_down.size() >= company) {
    return std::min(patience_ns, port.going_down[company - 1].at_ns);
  }
  return patience_ns;
}

Delivery Fabric::next_delivery(std::size_t port_index, std::int64_t now_ns) {
  Port& port = ports_[port_index];
  if (port.going_down.empty()) return {nullptr, 0};
  const std::int64_t due_ns = release_of_head(port);
  if (due_ns > now_ns) return {nullptr, 0};
  if (port.going_down.front().at_ns > port.released_until_ns) {
    // Everything that is with the card at this moment is handed over with the first frame.
    port.released_until_ns = due_ns;
    port.release_ns = due_ns;
  }
  FramePointer frame = std::move(port.going_down.front().frame);
  port.going_down.pop_front();
  return {std::move(frame), due_ns};
}

std::int64_t Fabric::next_event_ns() const {
  std::int64_t next_ns = kNever;
  for (const Port& port : ports_) {
    if (!port.going_up.empty()) next_ns = std::min(next_ns, port.going_up.front().at_ns);
    if (!port.going_down.empty()) next_ns = std::min(next_ns, release_of_head(port));
  }
  return next_ns;
}

std::int64_t Fabric::queue_bytes(std::size_t port, std::int64_t now_ns) {
  drain(ports_[port], now_ns);
  return ports_[port].buffered_bytes;
}

void Fabric::record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns) {
  PortCounters& counters = ports_[port].counters;
  counters.down.count(frame_bytes);
  counters.lateness_sum_ns += late_ns;
  counters.lateness_maximum_ns = std::max(counters.lateness_maximum_ns, late_ns);
  if (late_ns > kLateNs) ++counters.late_frames;
}

void Fabric::reset_counters() {
  for (Port& port : ports_) port.counters = PortCounters{};
}

}  // namespace fabriscope::lab
