// What a switch with priorities reads of a frame, and the one thing that it writes into it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "frame.h"
#include "qos_settings.h"

namespace fabriscope::lab {

constexpr std::uint16_t kVlan = 0x8100;         // IEEE 802.1Q
constexpr std::uint16_t kServiceVlan = 0x88a8;  // IEEE 802.1ad
constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86dd;

struct Headers {
  std::uint16_t ether_type = 0;               // behind all tags
  std::size_t payload_at = 0;                 // first byte behind it
  std::optional<std::uint8_t> code_point;     // of the outer tag: its PCP
  std::optional<std::uint8_t> traffic_class;  // of IP: DSCP and ECN
};

inline std::uint16_t word_at(const Frame& frame, std::size_t at) {
  return static_cast<std::uint16_t>(frame.data[at] << 8U | frame.data[at + 1]);
}

inline void put_word(Frame& frame, std::size_t at, std::uint16_t value) {
  frame.data[at] = static_cast<unsigned char>(value >> 8U);
  frame.data[at + 1] = static_cast<unsigned char>(value & 0xffU);
}

// Of a frame that is cut short, what is there.
inline Headers headers_of(const Frame& frame) {
  Headers found;
  std::size_t at = 12;
  if (frame.size_bytes < at + 2) return found;
  found.ether_type = word_at(frame, at);
  while ((found.ether_type == kVlan || found.ether_type == kServiceVlan) &&
         frame.size_bytes >= at + 6) {
    if (!found.code_point) found.code_point = static_cast<std::uint8_t>(frame.data[at + 2] >> 5U);
    at += 4;
    found.ether_type = word_at(frame, at);
  }
  found.payload_at = at + 2;
  if (found.ether_type == kIpv4 && frame.size_bytes >= found.payload_at + 20) {
    found.traffic_class = frame.data[found.payload_at + 1];
  } else if (found.ether_type == kIpv6 && frame.size_bytes >= found.payload_at + 40) {
    found.traffic_class = static_cast<std::uint8_t>(word_at(frame, found.payload_at) >> 4U & 0xffU);
  }
  return found;
}

// By the tag where there is one (IEEE 802.1Q), else by the map of DSCPs, else 0.
inline std::size_t priority_of(const Headers& headers, const DscpMap& map) {
  if (headers.code_point) return *headers.code_point;
  return headers.traffic_class ? map[*headers.traffic_class >> 2U] : 0;
}

constexpr std::uint8_t kNotCapable = 0;
constexpr std::uint8_t kCongestion = 3;

// Whether its ends can be told of congestion by a mark (RFC 3168: ECT(0), ECT(1), or CE already).
inline bool is_ecn_capable(const Headers& headers) {
  return headers.traffic_class && (*headers.traffic_class & 3U) != kNotCapable;
}

// Sets congestion experienced in a frame that is capable of it, and puts IPv4's checksum right by
// the difference (RFC 1624, eqn. 3).
inline void mark_congestion(Frame& frame, const Headers& headers) {
  if (headers.ether_type == kIpv6) {
    const std::size_t at = headers.payload_at;
    put_word(frame, at, static_cast<std::uint16_t>(word_at(frame, at) | kCongestion << 4U));
    return;
  }
  constexpr std::size_t kChecksumAt = 10;
  const std::uint16_t before = word_at(frame, headers.payload_at);
  frame.data[headers.payload_at + 1] |= kCongestion;
  const std::uint16_t after = word_at(frame, headers.payload_at);
  std::uint32_t sum = static_cast<std::uint16_t>(~word_at(frame, headers.payload_at + kChecksumAt));
  sum += static_cast<std::uint16_t>(~before);
  sum += after;
  while (sum > 0xffffU) sum = (sum & 0xffffU) + (sum >> 16U);
  put_word(frame, headers.payload_at + kChecksumAt, static_cast<std::uint16_t>(~sum));
}

}  // namespace fabriscope::lab
