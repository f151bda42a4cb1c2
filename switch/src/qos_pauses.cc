// When a switch with priorities marks frames, stops who sends to it, and lets them go on; and what
// is changed while it runs.
#include <algorithm>
#include <utility>

#include "qos_fabric.h"

namespace fabriscope::lab {

// By the queue as the frame finds it: never up to ecn_min, always above ecn_max, and with a chance
// that grows evenly from 0 to ecn_ppb between them (RED, Floyd and Jacobson 1993, on the queue as
// it is). With both alike it is a step (DCTCP, RFC 8257).
bool QosFabric::is_marked(std::int64_t queue_bytes) {
  if (qos_.ecn_min_bytes == kUnset || queue_bytes <= qos_.ecn_min_bytes) return false;
  if (queue_bytes > qos_.ecn_max_bytes) return true;
  const auto above = static_cast<double>(queue_bytes - qos_.ecn_min_bytes);
  const auto whole = static_cast<double>(qos_.ecn_max_bytes - qos_.ecn_min_bytes);
  const double share = above / whole * static_cast<double>(qos_.ecn_ppb);
  return static_cast<double>(chance_() % kPartsPerBillion) < share;
}

std::size_t QosFabric::group_of(std::size_t priority) const {
  if (settings_.on_full == OnFull::kPause) return kLink;
  return (qos_.lossless >> priority & 1U) != 0 ? priority : kNoGroup;
}

std::int64_t QosFabric::refresh_after_ns() const {
  return quanta_ns(kMostQuanta, settings_.rate_bits_per_s) / 2;
}

// The other end of the cable is to send no more of a priority (or of all) into `end`. It is told
// again before the time runs out that it was told.
void QosFabric::stop(std::size_t end, std::size_t group, std::int64_t now_ns) {
  End& in = ends_[end];
  if (in.inputs[group].is_stopped) return;
  in.inputs[group].is_stopped = true;
  ++stopped_count_[in.switch_at];
  in.stopped_at_ns[group] = now_ns;
  order(end, group, kMostQuanta, now_ns);
  if (in.is_refresh_due[group]) return;
  in.is_refresh_due[group] = true;
  schedule(now_ns + refresh_after_ns(), Step::kRefresh, end, group);
}

void QosFabric::refresh(std::size_t end, std::size_t group, std::int64_t now_ns) {
  End& in = ends_[end];
  in.is_refresh_due[group] = false;
  resume_where_possible(in.switch_at, now_ns);  // where nothing was kept, nothing leaves
  if (!in.inputs[group].is_stopped) return;
  in.is_refresh_due[group] = true;
  if (now_ns < in.stopped_at_ns[group] + refresh_after_ns())  // stopped anew since
    return schedule(in.stopped_at_ns[group] + refresh_after_ns(), Step::kRefresh, end, group);
  order(end, group, kMostQuanta, now_ns);
  schedule(now_ns + refresh_after_ns(), Step::kRefresh, end, group);
}

void QosFabric::resume_where_possible(std::size_t switch_at, std::int64_t now_ns) {
  if (stopped_count_[switch_at] == 0) return;
  const Switch& here = switches_[switch_at];
  for (const std::size_t end : here.ends) {
    for (std::size_t group = 0; group <= kLink; ++group) {
      InputShare& input = ends_[end].inputs[group];
      if (!input.is_stopped) continue;
      const bool is_paused_still = settings_.on_full == OnFull::kPause
                                       ? group == kLink
                                       : group != kLink && group_of(group) == group;
      if (is_paused_still && !here.memory.may_resume(input)) continue;
      input.is_stopped = false;
      --stopped_count_[switch_at];
      order(end, group, 0, now_ns);
    }
  }
}

// A pause frame into the cable of `end`, before everything that waits there.
void QosFabric::order(std::size_t end, std::size_t group, std::uint16_t quanta,
                      std::int64_t now_ns) {
  PauseOrder order;
  order.is_of_link = group == kLink;
  if (group != kLink) order.classes = static_cast<std::uint8_t>(1U << group);
  order.quanta[group == kLink ? 0 : group] = quanta;
  ++(quanta > 0 ? ends_[end].xoff_frames : ends_[end].xon_frames);
  FramePointer frame = made_.take();
  write_pause(*frame, order, static_cast<std::uint16_t>(end));
  ends_[end].outlet.push_control(std::move(frame));
  start(end, now_ns);
}

void QosFabric::let_go(std::int64_t now_ns) {
  // Not before what has happened already.
  const std::int64_t at_ns = switch_now_ns_ = std::max(now_ns, switch_now_ns_);
  for (std::size_t at = 0; at < switches_.size(); ++at) resume_where_possible(at, at_ns);
}

void QosFabric::set_faults(std::size_t port, const Faults& faults, std::int64_t now_ns) {
  hosts_[port].faults.set(faults, now_ns);
}

void QosFabric::set_on_full(OnFull on_full, std::int64_t now_ns) {
  settings_.on_full = on_full;
  let_go(now_ns);
}

void QosFabric::set_cables(const Cables& cables, std::int64_t now_ns) {
  static_cast<Cables&>(settings_) = cables;
  shortest_frame_ns_ = Wire(cables.rate_bits_per_s).pass(0, kMinimumFrameBytes);
  shortest_uplink_ns_ = shortest_frame_ns_ + cables.delay_ns;
  for (End& end : ends_) end.outlet.set_rate(cables.rate_bits_per_s);
  for (Host& host : hosts_) host.card.set(cables.rx_coalesce_ns, cables.rx_coalesce_frames);
  set_memory();
  let_go(now_ns);
}

// Which switch a port is of stays.
void QosFabric::set_qos(const QosSettings& qos, std::int64_t now_ns) {
  const std::vector<std::size_t> switch_of_port = qos_.switch_of_port;
  qos_ = qos;
  qos_.switch_of_port = switch_of_port;
  settings_.qos = qos_;
  set_memory();
  for (End& end : ends_) end.outlet.set_turn(turn());
  let_go(now_ns);
}

}  // namespace fabriscope::lab
