#include "fabric.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fabriscope::lab {
namespace {

// An output stops its senders when more than this part of its buffer is taken, and lets them go on
// when this part is left. The rest is for what is on its way meanwhile.
constexpr std::int64_t kPauseAbovePart = 2;
constexpr std::int64_t kResumeAtPart = 4;

}  // namespace

Fabric::Port::Port(const FabricSettings& settings, std::size_t index)
    : uplink(settings.rate_bits_per_s, 0),
      downlink(settings.rate_bits_per_s, settings.buffer_bytes),
      card(settings.rx_coalesce_ns, settings.rx_coalesce_frames),
      faults(static_cast<std::uint64_t>(settings.seed) << 16U | index) {}

Fabric::Fabric(FabricSettings settings, std::size_t port_count, std::int64_t now_ns)
    : settings_(std::move(settings)) {
  reckon();
  for (std::size_t port = 0; port < port_count; ++port) {
    ports_.emplace_back(settings_, port);
    set_faults(port, settings_.faults, now_ns);
  }
}

// What follows from the cables and buffers.
void Fabric::reckon() {
  shortest_frame_ns_ = Wire(settings_.rate_bits_per_s).pass(0, kMinimumFrameBytes);
  shortest_uplink_ns_ = shortest_frame_ns_ + settings_.delay_ns;
  pause_above_bytes_ = settings_.buffer_bytes / kPauseAbovePart;
  resume_at_bytes_ = settings_.buffer_bytes / kResumeAtPart;
}

void Fabric::accept(std::size_t port, FramePointer frame, std::int64_t sent_ns) {
  Port& from = ports_[port];
  if (from.faults.is_down(sent_ns)) {
    ++from.counters.link_down_frames;
    return;
  }
  const std::int64_t frame_bytes = size_of(frame);
  const std::int64_t queued_bytes = from.waiting_bytes + from.uplink.bytes(sent_ns) + frame_bytes;
  if (queued_bytes > kUplinkBytes) {
    ++from.counters.uplink_dropped_frames;
    return;
  }
  from.counters.up.count(frame_bytes);
  from.counters.uplink_maximum_queue_bytes =
      std::max(from.counters.uplink_maximum_queue_bytes, queued_bytes);
  from.waiting_bytes += frame_bytes;
  from.waiting.push_back({std::move(frame), sent_ns});
  // Where nobody is ever paused, all is known now.
  if (settings_.on_full == OnFull::kDrop) start_next(port);
}

void Fabric::start_next(std::size_t from) {
  Port& port = ports_[from];
  Waiting next = std::move(port.waiting.front());
  port.waiting.pop_front();
  const std::int64_t frame_bytes = size_of(next.frame);
  port.waiting_bytes -= frame_bytes;
  const std::int64_t start_ns = std::max(next.sent_ns, port.pause.since_ns());
  const std::int64_t left_ns = port.uplink.pass(start_ns, frame_bytes).value_or(start_ns);
  const std::int64_t at_ns = left_ns + settings_.delay_ns;
  const std::int64_t earliest_ns = Wire(settings_.rate_bits_per_s).pass(at_ns, frame_bytes);
  port.arriving.push_back({std::move(next.frame), at_ns, earliest_ns, from});
}

std::int64_t Fabric::next_start_ns(const Port& port) const {
  if (port.waiting.empty() || port.pause.is_paused()) return kNever;
  return std::max({port.waiting.front().sent_ns, port.uplink.free_ns(), port.pause.since_ns()});
}

void Fabric::advance(std::int64_t known_ns) {
  const std::int64_t horizon_ns = known_ns + shortest_uplink_ns_;
  while (true) {
    const Event event = first_event();
    if (event.at_ns > horizon_ns) return;
    perform(event);
  }
}

// Frames meet in the switch in the order in which they arrived there, whatever their port. A host
// stops when a pause frame has reached it, which takes as long as the shortest frame: so what is
// done here, in the order of time, never depends on what is still to come.
Fabric::Event Fabric::first_event() const {
  Event first{kNever, Step::kArrival, 0};
  const auto consider = [&first](std::int64_t at_ns, Step step, std::size_t port) {
    if (at_ns < first.at_ns) first = {at_ns, step, port};
  };
  for (std::size_t index = 0; index < ports_.size(); ++index) {
    const Port& port = ports_[index];
    if (settings_.on_full == OnFull::kPause) {
      consider(port.pause.next_change_ns(), Step::kPauseChange, index);
      if (!port.held_senders.empty())
        consider(port.downlink.down_to_ns(resume_at_bytes_), Step::kDrained, index);
      consider(next_start_ns(port), Step::kStart, index);
    }
    if (!port.arriving.empty()) consider(port.arriving.front().at_ns, Step::kArrival, index);
    if (!port.aside.empty()) consider(port.aside.front().at_ns, Step::kAside, index);
  }
  return first;
}

void Fabric::perform(const Event& event) {
  Port& port = ports_[event.port];
  switch (event.step) {
    case Step::kPauseChange:
      return port.pause.change();
    case Step::kDrained:
      return release_senders(port, event.at_ns);
    case Step::kStart:
      return start_next(event.port);
    case Step::kArrival:
    case Step::kAside:
      break;
  }
  std::deque<Arrival>& source = event.step == Step::kAside ? port.aside : port.arriving;
  Arrival arrival = std::move(source.front());
  source.pop_front();
  // A frame whose time stamp was late in becoming visible takes its place behind those already
  // forwarded.
  forwarded_ns_ = arrival.at_ns = std::max(arrival.at_ns, forwarded_ns_);
  if (event.step == Step::kAside) {
    enqueue(port, std::move(arrival));
  } else {
    forward(std::move(arrival));
  }
}

void Fabric::release_senders(Port& port, std::int64_t now_ns) {
  for (const std::size_t sender : port.held_senders) {
    ports_[sender].pause.release(now_ns + shortest_uplink_ns_);
  }
  port.held_senders.clear();
}

// Stops the sender of a frame that came to a buffer which is too full, or is not yet empty enough.
void Fabric::hold_sender(std::size_t from, Port& port, std::int64_t now_ns) {
  if (port.held_senders.empty() && port.downlink.bytes(now_ns) <= pause_above_bytes_) return;
  auto& held = port.held_senders;
  if (std::find(held.begin(), held.end(), from) != held.end()) return;
  held.push_back(from);
  ports_[from].pause.hold(now_ns + shortest_uplink_ns_);
}

void Fabric::forward(Arrival arrival) {
  addresses_.learn(*arrival.frame, arrival.from);
  if (const auto to = addresses_.find(*arrival.frame)) {
    // A switch never sends a frame back where it came from.
    if (*to != arrival.from) send_out(*to, std::move(arrival));
    return;
  }
  for (std::size_t port = 0; port < ports_.size(); ++port) {
    if (port == arrival.from) continue;
    FramePointer copy = copies_.take();
    copy->size_bytes = arrival.frame->size_bytes;
    std::memcpy(copy->data.data(), arrival.frame->data.data(), arrival.frame->size_bytes);
    send_out(port, {std::move(copy), arrival.at_ns, arrival.earliest_ns, arrival.from});
  }
}

void Fabric::send_out(std::size_t to, Arrival arrival) {
  Port& port = ports_[to];
  if (!port.faults.reorders()) return enqueue(port, std::move(arrival));
  ++port.counters.reordered_frames;
  arrival.at_ns += port.faults.settings().reorder_delay_ns;
  arrival.earliest_ns += port.faults.settings().reorder_delay_ns;
  port.aside.push_back(std::move(arrival));
}

void Fabric::enqueue(Port& port, Arrival arrival) {
  const std::int64_t frame_bytes = size_of(arrival.frame);
  const auto left_ns = port.downlink.pass(arrival.at_ns, frame_bytes);
  if (settings_.on_full == OnFull::kPause) hold_sender(arrival.from, port, arrival.at_ns);
  if (!left_ns) {
    ++port.counters.dropped_frames;
    port.counters.dropped_bytes += frame_bytes;
    return;
  }
  port.counters.maximum_queue_bytes =
      std::max(port.counters.maximum_queue_bytes, port.downlink.bytes(arrival.at_ns));
  if (port.faults.loses()) {  // on the cable: it has taken its time there
    ++port.counters.lost_frames;
    return;
  }
  port.card.add(std::move(arrival.frame), *left_ns);
}

Delivery Fabric::next_delivery(std::size_t port, std::int64_t now_ns) {
  Port& to = ports_[port];
  while (true) {
    Delivery delivery = to.card.take(now_ns);
    if (!delivery.frame || !to.faults.is_down(delivery.due_ns)) return delivery;
    ++to.counters.link_down_frames;
  }
}

std::int64_t Fabric::next_event_ns() const {
  std::int64_t next_ns = kNever;
  for (const Port& port : ports_) {
    next_ns = std::min(next_ns, port.card.next_ns());
    if (!port.arriving.empty()) next_ns = std::min(next_ns, port.arriving.front().earliest_ns);
    if (!port.aside.empty()) next_ns = std::min(next_ns, port.aside.front().earliest_ns);
    if (settings_.on_full == OnFull::kDrop) continue;
    // Whatever is done then shows at a host no sooner than the shortest frame arrives.
    std::int64_t step_ns = std::min(port.pause.next_change_ns(), next_start_ns(port));
    if (!port.held_senders.empty())
      step_ns = std::min(step_ns, port.downlink.down_to_ns(resume_at_bytes_));
    if (step_ns != kNever) next_ns = std::min(next_ns, step_ns + shortest_uplink_ns_);
  }
  return next_ns;
}

std::int64_t Fabric::uplink_free_ns(std::size_t port) const {
  const Port& from = ports_[port];
  const std::int64_t free_ns = from.uplink.free_ns();
  if (from.waiting.empty() || settings_.rate_bits_per_s == 0) return free_ns;
  const auto waiting_bits = static_cast<double>(from.waiting_bytes) * 8;
  const double waiting_s = waiting_bits / static_cast<double>(settings_.rate_bits_per_s);
  return std::max(free_ns, from.pause.since_ns()) + static_cast<std::int64_t>(waiting_s * 1e9);
}

void Fabric::set_on_full(OnFull on_full, std::int64_t now_ns) {
  settings_.on_full = on_full;
  if (on_full == OnFull::kPause) return;
  for (std::size_t index = 0; index < ports_.size(); ++index) {
    Port& port = ports_[index];
    port.held_senders.clear();
    port.pause.end(now_ns);
    while (!port.waiting.empty()) start_next(index);
  }
}

void Fabric::set_cables(const Cables& cables, std::int64_t /*now_ns*/) {
  static_cast<Cables&>(settings_) = cables;
  reckon();
  for (Port& port : ports_) {
    port.uplink.set_rate(cables.rate_bits_per_s);
    port.downlink.set_rate(cables.rate_bits_per_s);
    port.downlink.set_capacity(cables.buffer_bytes);
    port.card.set(cables.rx_coalesce_ns, cables.rx_coalesce_frames);
  }
}

void Fabric::record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns) {
  ports_[port].counters.down.count(frame_bytes);
  ports_[port].counters.record_lateness(late_ns);
}

std::int64_t Fabric::take_queue_maximum(std::size_t port, std::int64_t now_ns) {
  ports_[port].downlink.bytes(now_ns);
  return ports_[port].downlink.take_maximum_bytes();
}

void Fabric::reset_counters(std::int64_t now_ns) {
  for (Port& port : ports_) {
    port.counters = PortCounters{};
    port.pause.reset_counts(now_ns);
  }
}

}  // namespace fabriscope::lab
