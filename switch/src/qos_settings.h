// What a switch with priorities is told: queues, pauses by priority, marks, and its memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fabriscope::lab {

constexpr std::size_t kPriorities = 8;
constexpr std::size_t kDscps = 64;
constexpr std::int64_t kUnset = -1;
constexpr std::int64_t kMillion = 1'000'000;

using DscpMap = std::array<std::uint8_t, kDscps>;

// Each class selector to its priority, and what lies between two of them to the lower one.
constexpr DscpMap by_class_selector() {
  DscpMap map{};
  for (std::size_t dscp = 0; dscp < kDscps; ++dscp)
    map[dscp] = static_cast<std::uint8_t>(dscp / kPriorities);
  return map;
}

struct QosSettings {
  std::uint8_t lossless = 0;  // bit p: priority p is paused instead of dropped (IEEE 802.1Qbb)
  // Of each input and paused priority: it is stopped when it holds more than xoff in the switch,
  // and goes on at xon. Unset: alpha times what is free of a shared buffer, else parts of `buffer`.
  std::int64_t xoff_bytes = kUnset;
  std::int64_t xon_bytes = kUnset;
  // For what is on its way meanwhile, beyond the buffer. Unset: what a full frame's cable needs.
  std::int64_t headroom_bytes = kUnset;
  std::int64_t shared_bytes = 0;         // of all queues of a switch; 0: each queue has its own
  std::int64_t alpha_ppm = kMillion;     // a queue may hold this times what is free
  std::int64_t ecn_min_bytes = kUnset;   // frames are marked above; unset: never
  std::int64_t ecn_max_bytes = kUnset;   // and each of them above this
  std::int64_t ecn_ppb = 1'000'000'000;  // chance of a mark just below it
  bool is_fair = false;  // queues have turns of equally many bytes; else the highest priority first
  DscpMap priority_of_dscp = by_class_selector();
  std::vector<std::size_t> switch_of_port;  // which of the switches in a row; empty: the first
};

}  // namespace fabriscope::lab
