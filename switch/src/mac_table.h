// Which port an Ethernet address was last seen on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <unordered_map>

#include "frame.h"

namespace fabriscope::lab {

class MacTable {
 public:
  // Learns the sender of a frame from `port`; a station that moved is found at its new port.
  void learn(const Frame& frame, std::size_t port) {
    ports_[address_at(frame, kAddressBytes)] = port;
  }

  // Returns the port of the frame's receiver; none: it goes to every port but its own.
  std::optional<std::size_t> find(const Frame& frame) const {
    const bool is_group = (frame.data[0] & 1U) != 0;
    const auto known = is_group ? ports_.end() : ports_.find(address_at(frame, 0));
    if (known == ports_.end()) return std::nullopt;
    return known->second;
  }

 private:
  static constexpr std::size_t kAddressBytes = 6;

  static std::uint64_t address_at(const Frame& frame, std::size_t offset) {
    std::uint64_t address = 0;
    std::memcpy(&address, frame.data.data() + offset, kAddressBytes);
    return address;
  }

  std::unordered_map<std::uint64_t, std::size_t> ports_;
};

}  // namespace fabriscope::lab
