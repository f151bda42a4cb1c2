#include "switchboard.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <stdexcept>

#include "netns.h"

namespace fabriscope::lab {
namespace {

constexpr std::uint64_t kStop = ~0ULL;
constexpr std::uint64_t kControl = ~1ULL;
constexpr int kFramesPerTurn = 8;
// Sleeping is worth it only when nothing is due for so long; a sleep ends this much early, since
// waking up takes some of it.
constexpr std::int64_t kLeadNs = 60'000;
constexpr std::int64_t kDepthPeriodNs = 1'000'000;
constexpr std::size_t kDepthSamples = 1U << 16;

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void watch(int epoll, int descriptor, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) throw_errno("watch a descriptor");
}

// Waits until something is readable or `until_ns` is near; returns at once when it is.
void sleep_until(int epoll, std::int64_t until_ns) {
  pollfd watched{epoll, POLLIN, 0};
  if (until_ns == kNever) {
    ::poll(&watched, 1, -1);
    return;
  }
  const std::int64_t left_ns = until_ns - monotonic_ns() - kLeadNs;
  if (left_ns <= 0) return;
  const timespec timeout{left_ns / 1'000'000'000, left_ns % 1'000'000'000};
  ::ppoll(&watched, 1, &timeout, nullptr);
}

void append_direction(std::ostringstream& json, const char* name,
                      const DirectionCounters& counters) {
  json << '"' << name << "\":{\"frames\":" << counters.frames << ",\"bytes\":" << counters.bytes
       << ",\"wire_bytes\":" << counters.wire_bytes << '}';
}

}  // namespace

Switchboard::Switchboard(const Settings& settings)
    : spin_ns_(settings.spin_ns), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
  std::map<std::string, std::size_t> port_counts;
  for (const PortSettings& port : settings.ports) ++port_counts[port.fabric];
  std::map<std::string, Fabric*> by_name;
  for (const FabricSettings& fabric : settings.fabrics) {
    fabrics_.push_back(std::make_unique<Fabric>(fabric, port_counts[fabric.name]));
    by_name[fabric.name] = fabrics_.back().get();
  }
  std::map<std::string, std::size_t> next_index;
  for (const PortSettings& port : settings.ports) {
    const auto fabric = by_name.find(port.fabric);
    if (fabric == by_name.end())
      throw std::invalid_argument("a port names no known fabric: " + port.fabric);
    attachments_.push_back({port, open_port(port), fabric->second, next_index[port.fabric]++});
    watch(epoll_.get(), attachments_.back().port->descriptor(), attachments_.size() - 1);
  }
  spare_ = pool_.take();
}

bool Switchboard::receive(Attachment& attachment) {
  bool any = false;
  for (int turn = 0; turn < kFramesPerTurn; ++turn) {
    if (!attachment.port->receive(*spare_)) break;
    attachment.fabric->accept(attachment.index, std::move(spare_), monotonic_ns());
    spare_ = pool_.take();
    any = true;
  }
  return any;
}

bool Switchboard::deliver() {
  bool any = false;
  // One frame a port and turn, so that frames which hosts send meanwhile are read in time.
  for (Attachment& attachment : attachments_) {
    const std::int64_t now_ns = monotonic_ns();
    attachment.fabric->advance(now_ns);
    const Delivery delivery = attachment.fabric->next_delivery(attachment.index, now_ns);
    if (!delivery.frame) continue;
    any = true;
    if (attachment.port->deliver(*delivery.frame)) {
      attachment.fabric->record_delivery(attachment.index,
                                         static_cast<std::int64_t>(delivery.frame->size_bytes),
                                         now_ns - delivery.due_ns);
    } else {
      attachment.fabric->record_refusal(attachment.index);
    }
  }
  return any;
}

std::int64_t Switchboard::next_event_ns() const {
  std::int64_t next_ns = kNever;
  for (const auto& fabric : fabrics_) next_ns = std::min(next_ns, fabric->next_event_ns());
  return next_ns;
}

void Switchboard::sample_depths(std::int64_t now_ns) {
  if (now_ns < next_sample_ns_) return;
  next_sample_ns_ = now_ns + kDepthPeriodNs;
  for (std::size_t index = 0; index < attachments_.size(); ++index) {
    Attachment& attachment = attachments_[index];
    const std::int64_t queue_bytes = attachment.fabric->queue_bytes(attachment.index, now_ns);
    if (queue_bytes == 0) continue;
    if (depths_.size() == kDepthSamples) depths_.pop_front();
    depths_.push_back({now_ns, index, queue_bytes});
  }
}

void Switchboard::run(int stop_descriptor, int control_descriptor) {
  watch(epoll_.get(), stop_descriptor, kStop);
  watch(epoll_.get(), control_descriptor, kControl);
  std::array<epoll_event, 64> events{};
  std::int64_t busy_until_ns = 0;
  while (true) {
    bool any = false;
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), 0);
    for (int index = 0; index < count; ++index) {
      const std::uint64_t tag = events[static_cast<std::size_t>(index)].data.u64;
      if (tag == kStop) return;
      if (tag == kControl) {
        answer(control_descriptor);
      } else {
        any = receive(attachments_[tag]) || any;
      }
    }
    any = deliver() || any;
    const std::int64_t now_ns = monotonic_ns();
    sample_depths(now_ns);
    if (any) {
      busy_until_ns = now_ns + spin_ns_;
    } else if (now_ns >= busy_until_ns) {
      sleep_until(epoll_.get(), next_event_ns());
    }
  }
}

void Switchboard::answer(int control_descriptor) {
  const UniqueFd client(::accept4(control_descriptor, nullptr, nullptr, SOCK_CLOEXEC));
  if (client.get() < 0) return;
  const timeval patience{0, 100'000};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::array<char, 64> line{};
  const ssize_t size = ::recv(client.get(), line.data(), line.size(), 0);
  if (size <= 0) return;
  std::string request(line.data(), static_cast<std::size_t>(size));
  request.erase(request.find_last_not_of("\r\n ") + 1);
  const std::string reply = reply_to(request) + "\n";
  for (std::size_t sent = 0; sent < reply.size();) {
    const ssize_t part =
        ::send(client.get(), reply.data() + sent, reply.size() - sent, MSG_NOSIGNAL);
    if (part <= 0) return;
    sent += static_cast<std::size_t>(part);
  }
}

std::string Switchboard::reply_to(const std::string& request) {
  if (request == "counters") return counters_json();
  if (request == "queues") return queues_json();
  if (request != "reset") return R"({"error":"known requests: counters, queues, reset"})";
  for (const auto& fabric : fabrics_) fabric->reset_counters();
  depths_.clear();
  return R"({"reset":true})";
}

std::string Switchboard::counters_json() const {
  std::ostringstream json;
  json << "{\"ports\":[";
  const char* separator = "";
  for (const Attachment& attachment : attachments_) {
    const PortCounters& counters = attachment.fabric->counters(attachment.index);
    json << separator << "{\"fabric\":\"" << attachment.settings.fabric << "\",\"host\":\""
         << attachment.settings.host << "\",\"kind\":\"" << attachment.settings.kind << "\",";
    append_direction(json, "up", counters.up);
    json << ',';
    append_direction(json, "down", counters.down);
    json << ",\"dropped_frames\":" << counters.dropped_frames
         << ",\"dropped_bytes\":" << counters.dropped_bytes
         << ",\"maximum_queue_bytes\":" << counters.maximum_queue_bytes
         << ",\"refused_frames\":" << counters.refused_frames
         << ",\"late_frames\":" << counters.late_frames
         << ",\"lateness_sum_ns\":" << counters.lateness_sum_ns
         << ",\"lateness_maximum_ns\":" << counters.lateness_maximum_ns << '}';
    separator = ",";
  }
  json << "]}";
  return json.str();
}

std::string Switchboard::queues_json() const {
  std::ostringstream json;
  json << "{\"period_ns\":" << kDepthPeriodNs << ",\"samples\":[";
  const char* separator = "";
  for (const DepthSample& sample : depths_) {
    const PortSettings& port = attachments_[sample.attachment].settings;
    json << separator << '[' << sample.at_ns << ",\"" << port.fabric << "\",\"" << port.host
         << "\"," << sample.queue_bytes << ']';
    separator = ",";
  }
  json << "]}";
  return json.str();
}

}  // namespace fabriscope::lab
