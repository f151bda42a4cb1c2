// What a switch with priorities says of itself.
#include <ostream>

#include "qos_fabric.h"

namespace fabriscope::lab {

void QosFabric::count_drop(std::size_t to, std::size_t priority, std::int64_t frame_bytes) {
  ++ends_[to].counted[priority].dropped_frames;
  if (!is_of_host(to)) return;
  ++hosts_[to / 2].counters.dropped_frames;
  hosts_[to / 2].counters.dropped_bytes += frame_bytes;
}

std::int64_t QosFabric::uplink_free_ns(std::size_t port) const {
  return ends_[card_end(port)].outlet.free_ns(card_now_ns_);
}

std::int64_t QosFabric::queue_bytes(std::size_t port, std::int64_t /*now_ns*/) {
  return ends_[switch_end(port)].outlet.all_bytes();
}

std::int64_t QosFabric::take_queue_maximum(std::size_t port, std::int64_t /*now_ns*/) {
  return ends_[switch_end(port)].outlet.take_most_bytes();
}

void QosFabric::record_delivery(std::size_t port, std::int64_t frame_bytes, std::int64_t late_ns) {
  hosts_[port].counters.down.count(frame_bytes);
  hosts_[port].counters.record_lateness(late_ns);
}

std::int64_t QosFabric::pause_count(std::size_t port) const {
  return ends_[card_end(port)].outlet.any_pause().count();
}

std::int64_t QosFabric::paused_ns(std::size_t port, std::int64_t now_ns) const {
  return ends_[card_end(port)].outlet.any_pause().paused_ns(now_ns);
}

std::int64_t QosFabric::marked_frames(std::size_t port) const {
  std::int64_t count = 0;
  for (const PriorityCounters& one : ends_[switch_end(port)].counted) count += one.marked_frames;
  return count;
}

std::pair<std::size_t, std::size_t> QosFabric::trunk_between(std::size_t trunk) const {
  const std::size_t end = 2 * hosts_.size() + trunk;
  return {ends_[end].switch_at + 1, ends_[peer_of(end)].switch_at + 1};
}

PortTotals QosFabric::take_trunk_totals(std::size_t trunk, std::int64_t now_ns) {
  End& end = ends_[2 * hosts_.size() + trunk];
  PortTotals totals{end.outlet.take_most_bytes()};
  totals.wire_bytes = end.left.wire_bytes;
  totals.frames = end.left.frames;
  for (const PriorityCounters& one : end.counted) {
    totals.dropped_frames += one.dropped_frames;
    totals.marked_frames += one.marked_frames;
  }
  totals.pauses = end.outlet.any_pause().count();
  totals.paused_ns = end.outlet.any_pause().paused_ns(now_ns);
  return totals;
}

std::int64_t QosFabric::dropped_everywhere() const {
  std::int64_t count = 0;
  for (const End& end : ends_) {
    for (const PriorityCounters& one : end.counted) count += one.dropped_frames;
  }
  return count;
}

void QosFabric::reset_counters(std::int64_t now_ns) {
  for (Host& host : hosts_) host.counters = PortCounters{};
  for (End& end : ends_) {
    end.counted.fill({});
    end.left = {};
    end.xoff_frames = end.xon_frames = 0;
    end.outlet.reset_counts(now_ns);
  }
}

namespace {

// Members of the object of a priority at which something happened.
template <typename Counters>
void write_priority(std::ostream& json, std::size_t priority, const Counters& counted,
                    const PauseTimer& pause, std::int64_t now_ns) {
  json << "{\"priority\":" << priority << ",\"frames\":" << counted.frames
       << ",\"bytes\":" << counted.bytes << ",\"dropped_frames\":" << counted.dropped_frames
       << ",\"marked_frames\":" << counted.marked_frames
       << ",\"maximum_queue_bytes\":" << counted.maximum_queue_bytes
       << ",\"pauses\":" << pause.count() << ",\"paused_ns\":" << pause.paused_ns(now_ns) << '}';
}

}  // namespace

// Of the output to the host; how often and for how long the host was stopped.
void QosFabric::write_more(std::ostream& json, std::size_t port, std::int64_t now_ns) const {
  const End& out = ends_[switch_end(port)];
  const Outlet& card = ends_[card_end(port)].outlet;
  json << ",\"marked_frames\":" << marked_frames(port) << ",\"switch\":" << out.switch_at + 1
       << ",\"xoff_frames\":" << out.xoff_frames << ",\"xon_frames\":" << out.xon_frames
       << ",\"host_pauses\":" << out.outlet.any_pause().count()
       << ",\"host_paused_ns\":" << out.outlet.any_pause().paused_ns(now_ns) << ",\"priorities\":[";
  const char* separator = "";
  for (std::size_t priority = 0; priority < kPriorities; ++priority) {
    const PriorityCounters& counted = out.counted[priority];
    const PauseTimer& pause = card.pause(priority);
    if (counted.frames + counted.dropped_frames + pause.count() == 0) continue;
    json << separator;
    write_priority(json, priority, counted, pause, now_ns);
    separator = ",";
  }
  json << ']';
}

// Of the cables between switches, each direction: what waited there, and how the next switch
// stopped this one.
void QosFabric::write_trunks(std::ostream& json, const char* separator, std::int64_t now_ns) const {
  for (std::size_t end = 2 * hosts_.size(); end < ends_.size(); ++end) {
    const End& out = ends_[end];
    json << separator << "{\"fabric\":\"" << settings_.name << "\",\"from\":" << out.switch_at + 1
         << ",\"to\":" << ends_[peer_of(end)].switch_at + 1
         << ",\"queue_bytes\":" << out.outlet.all_bytes() << ",\"xoff_frames\":" << out.xoff_frames
         << ",\"xon_frames\":" << out.xon_frames << ",\"pauses\":" << out.outlet.any_pause().count()
         << ",\"paused_ns\":" << out.outlet.any_pause().paused_ns(now_ns) << ",\"priorities\":[";
    const char* between = "";
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
      const PriorityCounters& counted = out.counted[priority];
      if (counted.frames + counted.dropped_frames == 0) continue;
      json << between;
      write_priority(json, priority, counted, out.outlet.pause(priority), now_ns);
      between = ",";
    }
    json << "]}";
    separator = ",";
  }
}

}  // namespace fabriscope::lab
