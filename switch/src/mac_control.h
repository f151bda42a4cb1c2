// Pause frames as they are on the wire: of a whole link (IEEE 802.3 annex 31B), and by priority
// (IEEE 802.1Qbb, 802.3 annex 31D).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "frame.h"
#include "headers.h"
#include "qos_settings.h"
#include "wire.h"

namespace fabriscope::lab {

constexpr std::uint16_t kMacControl = 0x8808;
constexpr std::uint16_t kPauseOpcode = 0x0001;
constexpr std::uint16_t kPriorityPauseOpcode = 0x0101;
constexpr std::uint16_t kMostQuanta = 0xffff;
constexpr std::int64_t kQuantumBits = 512;

struct PauseOrder {
  bool is_of_link = false;   // all priorities by the first of the times
  std::uint8_t classes = 0;  // bit p: the time of priority p holds
  std::array<std::uint16_t, kPriorities> quanta{};

  bool concerns(std::size_t priority) const {
    return is_of_link || (classes >> priority & 1U) != 0;
  }
  std::uint16_t quanta_of(std::size_t priority) const { return quanta[is_of_link ? 0 : priority]; }
};

inline std::int64_t quanta_ns(std::int64_t quanta, std::int64_t rate_bits_per_s) {
  return quanta * kQuantumBits * 1'000'000'000 / rate_bits_per_s;
}

// The least frame: 60 bytes without check sequence, zeros behind the times.
inline void write_pause(Frame& frame, const PauseOrder& order, std::uint16_t sender) {
  frame.size_bytes = kMinimumFrameBytes;
  std::fill_n(frame.data.begin(), kMinimumFrameBytes, static_cast<unsigned char>(0));
  const std::array<unsigned char, 12> addresses{0x01,
                                                0x80,
                                                0xc2,
                                                0x00,
                                                0x00,
                                                0x01,  // of MAC control, which no bridge forwards
                                                0x02,
                                                0xfa,
                                                0xb5,
                                                0xff,
                                                static_cast<unsigned char>(sender >> 8U),
                                                static_cast<unsigned char>(sender & 0xffU)};
  std::copy(addresses.begin(), addresses.end(), frame.data.begin());
  put_word(frame, 12, kMacControl);
  put_word(frame, 14, order.is_of_link ? kPauseOpcode : kPriorityPauseOpcode);
  if (order.is_of_link) return put_word(frame, 16, order.quanta[0]);
  put_word(frame, 16, order.classes);
  for (std::size_t i = 0; i < kPriorities; ++i) put_word(frame, 18 + 2 * i, order.quanta[i]);
}

inline bool is_mac_control(const Frame& frame) {
  return frame.size_bytes >= 14 && word_at(frame, 12) == kMacControl;
}

// Nothing for what is no pause frame, or is cut short.
inline std::optional<PauseOrder> read_pause(const Frame& frame) {
  if (!is_mac_control(frame) || frame.size_bytes < 18) return std::nullopt;
  PauseOrder order;
  order.is_of_link = word_at(frame, 14) == kPauseOpcode;
  if (order.is_of_link) {
    order.quanta[0] = word_at(frame, 16);
    return order;
  }
  if (word_at(frame, 14) != kPriorityPauseOpcode || frame.size_bytes < 18 + 2 * kPriorities)
    return std::nullopt;
  order.classes = frame.data[17];
  for (std::size_t i = 0; i < kPriorities; ++i) order.quanta[i] = word_at(frame, 18 + 2 * i);
  return order;
}

}  // namespace fabriscope::lab
