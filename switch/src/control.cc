// What the switchboard says and is told over its control socket.
#include <sys/socket.h>

#include <array>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "clock.h"
#include "switchboard.h"
#include "words.h"

namespace fabriscope::lab {
namespace {

constexpr std::size_t kMaximumRequestBytes = 8192;

void append_direction(std::ostream& json, const char* name, const DirectionCounters& counters) {
  json << '"' << name << "\":{\"frames\":" << counters.frames << ",\"bytes\":" << counters.bytes
       << ",\"wire_bytes\":" << counters.wire_bytes << '}';
}

std::string error_json(const std::string& what) {
  std::string json = "{\"error\":\"";
  for (const char one : what) {
    if (one == '"' || one == '\\') json += '\\';
    json += one < ' ' ? '?' : one;  // what is not ASCII is negative
  }
  return json + "\"}";
}

}  // namespace

void Switchboard::answer(int control_descriptor) {
  const UniqueFd client(::accept4(control_descriptor, nullptr, nullptr, SOCK_CLOEXEC));
  if (client.get() < 0) return;
  const timeval patience{0, 100'000};
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(client.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  std::array<char, kMaximumRequestBytes> line{};
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
  try {
    if (request.rfind("series ", 0) == 0)
      return series_json(read_number(request.substr(7), "series"));
    if (request.rfind("set ", 0) == 0) return apply(read_change(request.substr(4)));
    if (request.rfind("get ", 0) == 0) return settings_of(read_change(request.substr(4)));
  } catch (const std::invalid_argument& error) {
    return error_json(error.what());
  }
  if (request != "reset") return error_json("known requests: counters, series, reset, get, set");
  for (const auto& fabric : fabrics_) fabric->reset_counters(monotonic_ns());
  for (Attachment& attachment : attachments_) {
    attachment.missed_before = attachment.port->missed_frames();
  }
  sampled_ns_ = monotonic_ns();
  series_.reset(sampled_ns_);
  return R"({"reset":true})";
}

std::string Switchboard::settings_of(const Change& named) const {
  for (const auto& fabric : fabrics_) {
    if (fabric->settings().name != named.fabric) continue;
    std::vector<Faults> ports;
    ports.reserve(fabric->port_count());
    for (std::size_t port = 0; port < fabric->port_count(); ++port)
      ports.push_back(fabric->faults(port));
    return settings_json(fabric->settings(), ports);
  }
  return error_json("there is no fabric " + named.fabric);
}

// Changes every port that is meant, or none.
std::string Switchboard::apply(const Change& change) {
  const std::int64_t now_ns = monotonic_ns();
  std::vector<const Attachment*> meant;
  for (const Attachment& attachment : attachments_) {
    if (attachment.settings.fabric != change.fabric) continue;
    if (!change.host.empty() && attachment.settings.host != change.host) continue;
    meant.push_back(&attachment);
  }
  if (meant.empty()) return error_json("no port of fabric " + change.fabric + " is meant");
  FabricModel& fabric = *meant.front()->fabric;
  std::vector<Faults> faults;
  faults.reserve(meant.size());
  for (const Attachment* one : meant)
    faults.push_back(changed(fabric.faults(one->index), change, faults.size(), meant.size()));
  const FabricSettings wanted = changed(fabric.settings(), change);
  if (!change.qos.empty()) fabric.set_qos(*wanted.qos, now_ns);
  if (!change.cables.empty()) fabric.set_cables(wanted, now_ns);
  if (change.on_full) fabric.set_on_full(*change.on_full, now_ns);
  if (!change.faults.empty()) {
    for (std::size_t place = 0; place < meant.size(); ++place)
      fabric.set_faults(meant[place]->index, faults[place], now_ns);
  }
  return "{\"set\":" + std::to_string(meant.size()) + "}";
}

std::string Switchboard::counters_json() {
  std::ostringstream json;
  json << "{\"ports\":[";
  const char* separator = "";
  for (const Attachment& attachment : attachments_) {
    json << separator;
    write_port(json, attachment);
    separator = ",";
  }
  json << ']';
  write_trunks(json);
  json << '}';
  return json.str();
}

// Only where there are switches in a row.
void Switchboard::write_trunks(std::ostream& json) const {
  std::ostringstream trunks;
  for (const auto& fabric : fabrics_) {
    fabric->write_trunks(trunks, trunks.tellp() > 0 ? "," : "", monotonic_ns());
  }
  if (trunks.tellp() > 0) json << ",\"trunks\":[" << trunks.str() << ']';
}

void Switchboard::write_port(std::ostream& json, const Attachment& attachment) const {
  const std::int64_t now_ns = monotonic_ns();
  const PortCounters& counters = attachment.fabric->counters(attachment.index);
  json << "{\"fabric\":\"" << attachment.settings.fabric << "\",\"host\":\""
       << attachment.settings.host << "\",\"kind\":\"" << attachment.settings.kind << "\",";
  append_direction(json, "up", counters.up);
  json << ',';
  append_direction(json, "down", counters.down);
  json << ",\"dropped_frames\":" << counters.dropped_frames
       << ",\"dropped_bytes\":" << counters.dropped_bytes
       << ",\"queue_bytes\":" << attachment.fabric->queue_bytes(attachment.index, now_ns)
       << ",\"maximum_queue_bytes\":" << counters.maximum_queue_bytes
       << ",\"uplink_dropped_frames\":" << counters.uplink_dropped_frames
       << ",\"uplink_maximum_queue_bytes\":" << counters.uplink_maximum_queue_bytes
       << ",\"missed_frames\":" << attachment.port->missed_frames() - attachment.missed_before
       << ",\"refused_frames\":" << counters.refused_frames
       << ",\"lost_frames\":" << counters.lost_frames
       << ",\"reordered_frames\":" << counters.reordered_frames
       << ",\"link_down_frames\":" << counters.link_down_frames << ",\"is_down\":"
       << (attachment.fabric->is_down(attachment.index, now_ns) ? "true" : "false")
       << ",\"pauses\":" << attachment.fabric->pause_count(attachment.index)
       << ",\"paused_ns\":" << attachment.fabric->paused_ns(attachment.index, now_ns)
       << ",\"late_frames\":" << counters.late_frames
       << ",\"lateness_sum_ns\":" << counters.lateness_sum_ns
       << ",\"lateness_maximum_ns\":" << counters.lateness_maximum_ns
       << ",\"lateness_histogram\":[";
  const char* separator = "";
  for (const std::int64_t count : counters.lateness_histogram) {
    json << separator << count;
    separator = ",";
  }
  json << ']';
  attachment.fabric->write_more(json, attachment.index, now_ns);
  json << '}';
}

// Of all ports since a moment. Times are the system clock's, to which launches are dated too.
std::string Switchboard::series_json(std::int64_t since_unix_ns) {
  sample_ports(monotonic_ns());
  const std::int64_t offset_ns = clock_ns(CLOCK_REALTIME) - monotonic_ns();
  std::ostringstream json;
  json << "{\"period_ns\":" << Series::kPeriodNs
       << ",\"since_unix_ns\":" << series_.since_ns() + offset_ns << ",\"ports\":[";
  const char* separator = "";
  std::size_t place = 0;
  const auto write = [&](const std::string& fabric, const std::string& name) {
    json << separator << "{\"fabric\":\"" << fabric << "\",\"host\":\"" << name << "\",";
    series_.write(json, place++, since_unix_ns - offset_ns, offset_ns);
    json << '}';
    separator = ",";
  };
  for (const Attachment& one : attachments_) write(one.settings.fabric, one.settings.host);
  for (const auto& fabric : fabrics_) {
    for (std::size_t trunk = 0; trunk < fabric->trunk_count(); ++trunk) {
      const auto [from, to] = fabric->trunk_between(trunk);
      const std::string name = "switch" + std::to_string(from) + ">switch" + std::to_string(to);
      write(fabric->settings().name, name);
    }
  }
  json << "]}";
  return json.str();
}

}  // namespace fabriscope::lab
