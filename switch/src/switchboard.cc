#include "switchboard.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <stdexcept>

#include "clock.h"
#include "fabric.h"
#include "netns.h"
#include "qos_fabric.h"
#include "sleeper.h"

namespace fabriscope::lab {
namespace {

constexpr std::uint64_t kStop = ~0ULL;
constexpr std::uint64_t kControl = ~1ULL;
// Frames of one port read or delivered before the others have their turn.
constexpr int kReadsPerTurn = 64;
constexpr int kDeliveriesPerTurn = 8;
// From our decision until the host's kernel stamps the frame: a look at every port and a system
// call. Deliveries begin this long before they are due, as far as nothing can still come in
// between.
constexpr std::int64_t kHandOverNs = 2'000;
// A host whose card is busy for this long does not wake us up with more frames; it does again when
// little is left.
constexpr std::int64_t kBusyUplinkNs = 40'000;
constexpr std::int64_t kFreeUplinkNs = 15'000;
// Frames that keep us busy must not keep the control socket waiting.
constexpr std::int64_t kServePeriodNs = 1'000'000;

void watch(int epoll, int operation, int descriptor, std::uint64_t tag, bool is_watched) {
  epoll_event event{};
  if (is_watched) event.events = EPOLLIN;
  event.data.u64 = tag;
  if (::epoll_ctl(epoll, operation, descriptor, &event) == 0) return;
  const bool is_gone = operation == EPOLL_CTL_MOD && errno == ENOENT;
  if (!is_gone) throw_errno("watch a descriptor");
}

std::unique_ptr<FabricModel> make_fabric(const FabricSettings& settings, std::size_t port_count) {
  if (settings.qos) return std::make_unique<QosFabric>(settings, port_count, monotonic_ns());
  return std::make_unique<Fabric>(settings, port_count, monotonic_ns());
}

}  // namespace

Switchboard::Switchboard(const Settings& settings)
    : awake_ns_(settings.awake_ns),
      awake_(settings.awake_ns > 0),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      series_(0, 0) {
  std::map<std::string, std::size_t> port_counts;
  for (const PortSettings& port : settings.ports) ++port_counts[port.fabric];
  std::map<std::string, FabricModel*> by_name;
  for (const FabricSettings& fabric : settings.fabrics) {
    fabrics_.push_back(make_fabric(fabric, port_counts[fabric.name]));
    by_name[fabric.name] = fabrics_.back().get();
  }
  std::map<std::string, std::size_t> next_index;
  for (const PortSettings& port : settings.ports) {
    const auto fabric = by_name.find(port.fabric);
    if (fabric == by_name.end())
      throw std::invalid_argument("a port names no known fabric: " + port.fabric);
    // The vector owns the port, which the analyzer does not see.
    // NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks)
    attachments_.push_back(
        {port, open_port(port), fabric->second, next_index[port.fabric]++, 0, true});
    // NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)
    watch(epoll_.get(), EPOLL_CTL_ADD, attachments_.back().port->descriptor(),
          attachments_.size() - 1, true);
  }
  std::size_t trunk_count = 0;
  for (const auto& fabric : fabrics_) trunk_count += fabric->trunk_count();
  sampled_ns_ = news_ns_ = monotonic_ns();
  series_ = Series(attachments_.size() + trunk_count, sampled_ns_);
  spare_ = pool_.take();
}

std::int64_t Switchboard::receive(bool& any) {
  std::int64_t known_ns = monotonic_ns();
  for (Attachment& attachment : attachments_) {
    std::int64_t sent_ns = 0;
    int reads = 0;
    while (reads < kReadsPerTurn && attachment.port->receive(*spare_, sent_ns)) {
      attachment.fabric->accept(attachment.index, std::move(spare_), sent_ns);
      spare_ = pool_.take();
      ++reads;
    }
    any = any || reads > 0;
    // There may be more, sent after the last one that was read.
    if (reads == kReadsPerTurn) known_ns = std::min(known_ns, sent_ns);
  }
  return known_ns;
}

bool Switchboard::deliver(Attachment& attachment, std::int64_t known_ns) {
  const std::int64_t lead_ns = std::min(kHandOverNs, attachment.fabric->shortest_uplink_ns());
  for (int turn = 0; turn < kDeliveriesPerTurn; ++turn) {
    const Delivery delivery =
        attachment.fabric->next_delivery(attachment.index, known_ns + lead_ns);
    if (!delivery.frame) return turn > 0;
    const std::int64_t late_ns =
        std::max<std::int64_t>(monotonic_ns() + lead_ns - delivery.due_ns, 0);
    if (attachment.port->deliver(*delivery.frame)) {
      attachment.fabric->record_delivery(
          attachment.index, static_cast<std::int64_t>(delivery.frame->size_bytes), late_ns);
    } else {
      attachment.fabric->record_refusal(attachment.index);
    }
  }
  return true;
}

// Decides whose frames wake us up, and returns when that must be decided again; kNever: not by
// time. While a host's uplink is busy, what it sends joins a queue, and a look at it can wait:
// waking up for each frame would cost its sender more than sending it.
std::int64_t Switchboard::choose_watched(std::int64_t now_ns) {
  std::int64_t again_ns = kNever;
  for (std::size_t index = 0; index < attachments_.size(); ++index) {
    Attachment& attachment = attachments_[index];
    const std::int64_t free_ns = attachment.fabric->uplink_free_ns(attachment.index);
    const bool is_watched =
        free_ns - now_ns < (attachment.is_watched ? kBusyUplinkNs : kFreeUplinkNs);
    if (is_watched != attachment.is_watched) {
      watch(epoll_.get(), EPOLL_CTL_MOD, attachment.port->descriptor(), index, is_watched);
      attachment.is_watched = is_watched;
    }
    if (!is_watched) again_ns = std::min(again_ns, free_ns - kFreeUplinkNs);
  }
  return again_ns;
}

std::int64_t Switchboard::next_event_ns() const {
  std::int64_t next_ns = kNever;
  for (const auto& fabric : fabrics_) next_ns = std::min(next_ns, fabric->next_event_ns());
  return next_ns;
}

PortTotals Switchboard::totals_of(const Attachment& attachment, std::int64_t now_ns) const {
  FabricModel& fabric = *attachment.fabric;
  const std::size_t port = attachment.index;
  const PortCounters& counters = fabric.counters(port);
  return {fabric.take_queue_maximum(port, now_ns),
          counters.down.wire_bytes,
          counters.down.frames,
          counters.dropped_frames,
          fabric.marked_frames(port),
          fabric.pause_count(port),
          fabric.paused_ns(port, now_ns)};
}

// What goes on is looked at again. After a time without anything a period begins with the first
// that happens.
void Switchboard::sample_ports(std::int64_t now_ns) {
  const std::int64_t began_ns = std::max(sampled_ns_, news_ns_);
  sampled_ns_ = now_ns;
  next_sample_ns_ = now_ns + Series::kPeriodNs;
  has_news_ = false;
  std::size_t place = 0;
  for (const Attachment& attachment : attachments_) {
    has_news_ = series_.add(began_ns, now_ns, place++, totals_of(attachment, now_ns)) || has_news_;
  }
  for (const auto& fabric : fabrics_) {
    for (std::size_t trunk = 0; trunk < fabric->trunk_count(); ++trunk) {
      has_news_ =
          series_.add(began_ns, now_ns, place++, fabric->take_trunk_totals(trunk, now_ns)) ||
          has_news_;
    }
  }
  if (has_news_) news_ns_ = now_ns;
}

// An error is reported until somebody has read it: an interface went down, or away. It must not
// keep us awake.
void Switchboard::acknowledge(const epoll_event& event) {
  const int descriptor = attachments_[event.data.u64].port->descriptor();
  int error = 0;
  socklen_t size = sizeof error;
  if (::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0) return;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

// Looks at the stop and control descriptors; returns whether to go on.
bool Switchboard::serve_descriptors(int control_descriptor) {
  std::array<epoll_event, 64> events{};
  const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
  for (int index = 0; index < count; ++index) {
    const epoll_event& event = events[static_cast<std::size_t>(index)];
    const std::uint64_t tag = event.data.u64;
    if (tag == kStop) return false;
    if (tag == kControl) {
      answer(control_descriptor);
    } else if ((event.events & EPOLLERR) != 0) {
      acknowledge(event);
    }
  }
  return true;
}

void Switchboard::run(int stop_descriptor, int control_descriptor) {
  watch(epoll_.get(), EPOLL_CTL_ADD, stop_descriptor, kStop, true);
  watch(epoll_.get(), EPOLL_CTL_ADD, control_descriptor, kControl, true);
  Sleeper sleeper(epoll_.get());
  std::int64_t serve_ns = 0;
  while (true) {
    bool any = false;
    const std::int64_t known_ns = receive(any);
    for (const auto& fabric : fabrics_) fabric->advance(known_ns);
    for (Attachment& attachment : attachments_) any = deliver(attachment, known_ns) || any;
    if (any && !has_news_) {
      news_ns_ = known_ns;
      next_sample_ns_ = known_ns + Series::kPeriodNs;
    }
    has_news_ = has_news_ || any;
    if (has_news_ && known_ns >= next_sample_ns_) sample_ports(known_ns);
    if (known_ns >= serve_ns) {
      if (!serve_descriptors(control_descriptor)) return;
      serve_ns = known_ns + kServePeriodNs;
    }
    const std::int64_t next_ns = next_event_ns();
    if (any || next_ns != kNever) awake_.extend(known_ns + awake_ns_, known_ns);
    if (any) continue;
    const std::int64_t sample_ns = has_news_ ? next_sample_ns_ : kNever;
    const std::int64_t wake_ns = std::min({next_ns, choose_watched(known_ns), sample_ns});
    sleeper.sleep_until(wake_ns == kNever ? kNever : wake_ns - kHandOverNs);
    if (next_ns == kNever) serve_ns = 0;
  }
}

}  // namespace fabriscope::lab
