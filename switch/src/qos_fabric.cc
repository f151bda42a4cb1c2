#include "qos_fabric.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace fabriscope::lab {
namespace {

// What may still come after the frame that goes beyond a threshold: the pause frame waits for one
// that has just begun and for those of other priorities, and crosses the cable; the other end
// completes the frame that it has just begun; and the cable is full. docs/lab.md has the formula.
std::int64_t full_frame_headroom_bytes(const FabricSettings& settings) {
  const std::int64_t rate = settings.rate_bits_per_s;
  const std::int64_t full_ns = Wire(rate).pass(0, static_cast<std::int64_t>(kMaximumFrameBytes));
  const std::int64_t shortest_ns = Wire(rate).pass(0, kMinimumFrameBytes);
  constexpr std::int64_t kEachPriority = kPriorities;
  const std::int64_t ns = 2 * settings.delay_ns + kEachPriority * shortest_ns + 3 * full_ns;
  return static_cast<std::int64_t>(static_cast<double>(ns) * static_cast<double>(rate) / 8e9);
}

}  // namespace

bool QosFabric::Event::operator>(const Event& other) const {
  return std::tie(at_ns, step, number) > std::tie(other.at_ns, other.step, other.number);
}

QosFabric::Host::Host(const FabricSettings& settings, std::size_t index)
    : card(settings.rx_coalesce_ns, settings.rx_coalesce_frames),
      faults(static_cast<std::uint64_t>(settings.seed) << 16U | index) {}

QosFabric::QosFabric(FabricSettings settings, std::size_t port_count, std::int64_t now_ns)
    : settings_(std::move(settings)),
      qos_(settings_.qos.value_or(QosSettings{})),
      shortest_frame_ns_(Wire(settings_.rate_bits_per_s).pass(0, kMinimumFrameBytes)),
      shortest_uplink_ns_(shortest_frame_ns_ + settings_.delay_ns),
      chance_(static_cast<std::uint64_t>(settings_.seed)) {
  make_ends(port_count);
  set_memory();
  for (std::size_t port = 0; port < port_count; ++port) set_faults(port, settings_.faults, now_ns);
}

void QosFabric::make_ends(std::size_t port_count) {
  const std::int64_t rate = settings_.rate_bits_per_s;
  std::size_t switch_count = 1;
  for (std::size_t port = 0; port < port_count; ++port) {
    const bool is_told = port < qos_.switch_of_port.size();
    const std::size_t at = is_told ? qos_.switch_of_port[port] : 0;
    switch_count = std::max(switch_count, at + 1);
    ends_.emplace_back(rate, turn(), at);
    ends_.emplace_back(rate, turn(), at);
    hosts_.emplace_back(settings_, port);
  }
  for (std::size_t at = 0; at + 1 < switch_count; ++at) {
    ends_.emplace_back(rate, turn(), at);
    ends_.emplace_back(rate, turn(), at + 1);
  }
  for (std::size_t at = 0; at < switch_count; ++at) switches_.emplace_back();
  for (std::size_t end = 0; end < ends_.size(); ++end) {
    if (!is_card(end)) switches_[ends_[end].switch_at].ends.push_back(end);
  }
  stopped_count_.assign(switch_count, 0);
}

Turn QosFabric::turn() const { return qos_.is_fair ? Turn::kFair : Turn::kPriority; }

void QosFabric::set_memory() {
  for (Switch& one : switches_) {
    one.memory.set(qos_, settings_.buffer_bytes, full_frame_headroom_bytes(settings_));
  }
}

void QosFabric::schedule(std::int64_t at_ns, Step step, std::size_t end, std::size_t group) {
  const bool is_of_card = is_card(end);
  const std::int64_t earliest_ns = is_of_card ? card_now_ns_ : switch_now_ns_;
  (is_of_card ? card_events_ : switch_events_)
      .push({std::max(at_ns, earliest_ns), step, event_count_++, end, group});
}

void QosFabric::accept(std::size_t port, FramePointer frame, std::int64_t sent_ns) {
  Host& host = hosts_[port];
  if (host.faults.is_down(sent_ns)) {
    ++host.counters.link_down_frames;
    return;
  }
  Outlet& card = ends_[card_end(port)].outlet;
  Hold hold;
  hold.bytes = size_of(frame);
  if (card.all_bytes() + hold.bytes > kUplinkBytes) {
    ++host.counters.uplink_dropped_frames;
    return;
  }
  hold.priority = priority_of(headers_of(*frame), qos_.priority_of_dscp);
  hold.since_ns = sent_ns;
  host.counters.up.count(hold.bytes);
  card.push(std::move(frame), hold);
  host.counters.uplink_maximum_queue_bytes =
      std::max(host.counters.uplink_maximum_queue_bytes, card.all_bytes());
  schedule(sent_ns, Step::kSend, card_end(port));
}

void QosFabric::advance(std::int64_t known_ns) {
  const std::int64_t horizon_ns = known_ns + shortest_uplink_ns_;
  while (true) {
    const std::int64_t card_ns = card_events_.empty() ? kNever : card_events_.top().at_ns;
    const std::int64_t switch_ns = switch_events_.empty() ? kNever : switch_events_.top().at_ns;
    const bool is_of_card = card_ns <= known_ns && (card_ns <= switch_ns || switch_ns > horizon_ns);
    if (!is_of_card && switch_ns > horizon_ns) return;
    Events& events = is_of_card ? card_events_ : switch_events_;
    const Event event = events.top();
    events.pop();
    (is_of_card ? card_now_ns_ : switch_now_ns_) = event.at_ns;
    perform(event);
  }
}

void QosFabric::perform(const Event& event) {
  End& end = ends_[event.end];
  switch (event.step) {
    case Step::kLeft:
      return leave(event.end, event.at_ns);
    case Step::kObey: {
      const PauseOrder order = end.orders.front();
      end.orders.pop_front();
      return obey(event.end, order, event.at_ns);
    }
    case Step::kArrival:
      return arrive(event.end, event.at_ns);
    case Step::kAside: {
      Aside aside = std::move(end.aside.front());
      end.aside.pop_front();
      return enqueue(event.end, aside.from, std::move(aside.frame), event.at_ns);
    }
    case Step::kAlarm:
      if (end.alarm_ns != event.at_ns) return;  // it was put off
      end.alarm_ns = end.outlet.next_end_ns(event.at_ns);
      if (end.alarm_ns != kNever) schedule(end.alarm_ns, Step::kAlarm, event.end);
      return start(event.end, event.at_ns);
    case Step::kRefresh:
      return refresh(event.end, event.group, event.at_ns);
    case Step::kSend:
      return start(event.end, event.at_ns);
  }
}

void QosFabric::start(std::size_t end, std::int64_t now_ns) {
  auto departure = ends_[end].outlet.start(now_ns);
  if (!departure) return;
  schedule(departure->left_ns, Step::kLeft, end);
  carry(end, std::move(*departure));
}

// Its last bit leaves `from` at left_ns. The cable to a switch takes the fabric's delay, so that
// from host to host it is there once.
void QosFabric::carry(std::size_t from, Outlet::Departure departure) {
  const std::size_t to = peer_of(from);
  if (!is_card(to)) {
    ends_[to].arriving.push_back(std::move(departure.frame));
    return schedule(departure.left_ns + settings_.delay_ns, Step::kArrival, to);
  }
  Host& host = hosts_[to / 2];
  if (host.faults.loses()) {  // on the cable: it has taken its time there
    ++host.counters.lost_frames;
    return;
  }
  const bool is_order = departure.is_control && !host.faults.is_down(departure.left_ns);
  if (const auto order = is_order ? read_pause(*departure.frame) : std::nullopt) {
    ends_[to].orders.push_back(*order);
    schedule(departure.left_ns, Step::kObey, to);
  }
  host.card.add(std::move(departure.frame), departure.left_ns);
}

void QosFabric::leave(std::size_t end, std::int64_t now_ns) {
  const Hold hold = ends_[end].outlet.finish();
  if (!is_card(end) && hold.bytes > 0) {
    ends_[end].left.count(hold.bytes);
    InputShare* input = hold.group == kNoGroup ? nullptr : &ends_[hold.from].inputs[hold.group];
    switches_[ends_[end].switch_at].memory.release(hold.place, input, hold.bytes);
    resume_where_possible(ends_[end].switch_at, now_ns);
  }
  start(end, now_ns);
}

void QosFabric::obey(std::size_t end, const PauseOrder& order, std::int64_t now_ns) {
  End& stopped = ends_[end];
  stopped.outlet.obey(order, now_ns);
  const std::int64_t next_ns = stopped.outlet.next_end_ns(now_ns);
  if (next_ns < stopped.alarm_ns) {
    stopped.alarm_ns = next_ns;
    schedule(next_ns, Step::kAlarm, end);
  }
  start(end, now_ns);  // some may go on
}

void QosFabric::arrive(std::size_t end, std::int64_t now_ns) {
  FramePointer frame = std::move(ends_[end].arriving.front());
  ends_[end].arriving.pop_front();
  if (!is_mac_control(*frame)) return forward(end, std::move(frame), now_ns);
  // No bridge forwards it (802.1D), whether or not it is understood.
  if (const auto order = read_pause(*frame)) obey(end, *order, now_ns);
}

void QosFabric::forward(std::size_t from, FramePointer frame, std::int64_t now_ns) {
  Switch& here = switches_[ends_[from].switch_at];
  here.addresses.learn(*frame, from);
  if (const auto to = here.addresses.find(*frame)) {
    // A switch never sends a frame back where it came from.
    if (*to != from) send_out(*to, from, std::move(frame), now_ns);
    return;
  }
  for (const std::size_t to : here.ends) {
    if (to == from) continue;
    FramePointer copy = made_.take();
    copy->size_bytes = frame->size_bytes;
    std::memcpy(copy->data.data(), frame->data.data(), frame->size_bytes);
    send_out(to, from, std::move(copy), now_ns);
  }
}

void QosFabric::send_out(std::size_t to, std::size_t from, FramePointer frame,
                         std::int64_t now_ns) {
  Host* host = is_of_host(to) ? &hosts_[to / 2] : nullptr;
  if (host == nullptr || !host->faults.reorders())
    return enqueue(to, from, std::move(frame), now_ns);
  ++host->counters.reordered_frames;
  ends_[to].aside.push_back({std::move(frame), from});
  schedule(now_ns + host->faults.settings().reorder_delay_ns, Step::kAside, to);
}

void QosFabric::enqueue(std::size_t to, std::size_t from, FramePointer frame, std::int64_t now_ns) {
  End& out = ends_[to];
  SwitchMemory& memory = switches_[out.switch_at].memory;
  const Headers headers = headers_of(*frame);
  Hold hold;
  hold.priority = priority_of(headers, qos_.priority_of_dscp);
  hold.from = from;
  hold.group = group_of(hold.priority);
  hold.bytes = size_of(frame);
  hold.since_ns = now_ns;
  const std::int64_t queue_bytes = out.outlet.bytes(hold.priority);
  if (hold.group == kNoGroup) {
    hold.place = memory.admit(queue_bytes, hold.bytes);
  } else {
    hold.place = memory.admit(ends_[from].inputs[hold.group], hold.bytes);
    if (hold.place == Place::kHeadroom || hold.place == Place::kNone)
      stop(from, hold.group, now_ns);
  }
  if (hold.place == Place::kNone) return count_drop(to, hold.priority, hold.bytes);
  PriorityCounters& counted = out.counted[hold.priority];
  if (is_ecn_capable(headers) && is_marked(queue_bytes)) {
    mark_congestion(*frame, headers);
    ++counted.marked_frames;
  }
  ++counted.frames;
  counted.bytes += hold.bytes;
  out.outlet.push(std::move(frame), hold);
  counted.maximum_queue_bytes =
      std::max(counted.maximum_queue_bytes, out.outlet.bytes(hold.priority));
  if (is_of_host(to)) {
    std::int64_t& most = hosts_[to / 2].counters.maximum_queue_bytes;
    most = std::max(most, out.outlet.all_bytes());
  }
  start(to, now_ns);
}

Delivery QosFabric::next_delivery(std::size_t port, std::int64_t now_ns) {
  Host& host = hosts_[port];
  while (true) {
    Delivery delivery = host.card.take(now_ns);
    if (!delivery.frame || !host.faults.is_down(delivery.due_ns)) return delivery;
    ++host.counters.link_down_frames;
  }
}

std::int64_t QosFabric::next_event_ns() const {
  std::int64_t next_ns = kNever;
  for (const Host& host : hosts_) next_ns = std::min(next_ns, host.card.next_ns());
  // Whatever a switch does shows at a host no sooner than the shortest frame arrives there.
  if (!switch_events_.empty())
    next_ns = std::min(next_ns, switch_events_.top().at_ns + shortest_frame_ns_);
  if (!card_events_.empty())
    next_ns = std::min(next_ns, card_events_.top().at_ns + shortest_uplink_ns_);
  return next_ns;
}

}  // namespace fabriscope::lab
