// What one port counts.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "wire.h"

namespace fabriscope::lab {

// A delivery that is later than this is counted as late.
constexpr std::int64_t kLateNs = 20'000;
// Bin i of the histogram counts lateness below 2^i us; the last bin holds the rest.
constexpr std::size_t kLatenessBins = 16;

struct DirectionCounters {
  std::int64_t frames = 0;
  std::int64_t bytes = 0;
  std::int64_t wire_bytes = 0;

  void count(std::int64_t frame_bytes) {
    ++frames;
    bytes += frame_bytes;
    wire_bytes += lab::wire_bytes(frame_bytes);
  }
};

struct PortCounters {
  DirectionCounters up;    // from the host
  DirectionCounters down;  // delivered to the host
  // The output buffer towards the host.
  std::int64_t dropped_frames = 0;
  std::int64_t dropped_bytes = 0;
  std::int64_t maximum_queue_bytes = 0;
  // The host's own queue towards the switch.
  std::int64_t uplink_dropped_frames = 0;
  std::int64_t uplink_maximum_queue_bytes = 0;
  std::int64_t refused_frames = 0;  // the host's device did not take them
  // What was asked for (faults.h).
  std::int64_t lost_frames = 0;       // on their way to the host
  std::int64_t reordered_frames = 0;  // that waited aside on their way to the host
  std::int64_t link_down_frames = 0;  // from or to the host
  // How late frames were handed over against the time that the model gave them.
  std::int64_t lateness_sum_ns = 0;
  std::int64_t lateness_maximum_ns = 0;
  std::int64_t late_frames = 0;  // by more than kLateNs
  std::array<std::int64_t, kLatenessBins> lateness_histogram{};

  void record_lateness(std::int64_t late_ns) {
    lateness_sum_ns += late_ns;
    lateness_maximum_ns = std::max(lateness_maximum_ns, late_ns);
    if (late_ns > kLateNs) ++late_frames;
    std::size_t bin = 0;
    while (bin + 1 < kLatenessBins && late_ns >= (std::int64_t{1000} << bin)) ++bin;
    ++lateness_histogram[bin];
  }
};

}  // namespace fabriscope::lab
