#include "series.h"

#include <algorithm>
#include <array>
#include <ostream>
#include <utility>

namespace fabriscope::lab {
namespace {

constexpr std::size_t kMostSamples = 1U << 16;

constexpr std::array<std::pair<const char*, std::int64_t PortTotals::*>, 7> kMembers{{
    {"queue_bytes", &PortTotals::queue_bytes},
    {"wire_bytes", &PortTotals::wire_bytes},
    {"frames", &PortTotals::frames},
    {"dropped_frames", &PortTotals::dropped_frames},
    {"marked_frames", &PortTotals::marked_frames},
    {"pauses", &PortTotals::pauses},
    {"paused_ns", &PortTotals::paused_ns},
}};

}  // namespace

bool Series::add(std::int64_t began_ns, std::int64_t now_ns, std::size_t port,
                 const PortTotals& totals) {
  PortTotals grown = totals;
  bool has_grown = totals.queue_bytes != 0;
  for (const auto& [name, member] : kMembers) {
    if (member == &PortTotals::queue_bytes) continue;
    grown.*member -= before_[port].*member;
    has_grown = has_grown || grown.*member != 0;
  }
  before_[port] = totals;
  if (!has_grown) return false;
  if (samples_.size() == kMostSamples) {
    since_ns_ = samples_.front().at_ns;
    samples_.pop_front();
  }
  samples_.push_back({now_ns, now_ns - began_ns, port, grown});
  return true;
}

void Series::reset(std::int64_t now_ns) {
  samples_.clear();
  std::fill(before_.begin(), before_.end(), PortTotals{});
  since_ns_ = now_ns;
}

void Series::write(std::ostream& json, std::size_t port, std::int64_t since_ns,
                   std::int64_t offset_ns) const {
  std::vector<const Sample*> meant;
  for (const Sample& sample : samples_) {
    if (sample.port == port && sample.at_ns > since_ns) meant.push_back(&sample);
  }
  json << "\"at_unix_ns\":[";
  const char* separator = "";
  for (const Sample* sample : meant) {
    json << separator << sample->at_ns + offset_ns;
    separator = ",";
  }
  json << "],\"length_ns\":[";
  separator = "";
  for (const Sample* sample : meant) {
    json << separator << sample->length_ns;
    separator = ",";
  }
  json << ']';
  for (const auto& [name, member] : kMembers) {
    json << ",\"" << name << "\":[";
    separator = "";
    for (const Sample* sample : meant) {
      json << separator << sample->grown.*member;
      separator = ",";
    }
    json << ']';
  }
}

}  // namespace fabriscope::lab
