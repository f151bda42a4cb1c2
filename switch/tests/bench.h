// A fabric on a clock that the tests make up.
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "fabric.h"
#include "wire.h"

namespace fabriscope::lab {

constexpr std::int64_t kGigabit = 1'000'000'000;
constexpr std::int64_t kFrameBytes = 1514;
constexpr std::int64_t kFrameNs = (kFrameBytes + 24) * 8;  // at one gigabit a second
constexpr std::int64_t kShortNs = std::int64_t{84} * 8;    // the shortest frame
constexpr unsigned char kBroadcast = 0xff;

struct Seen {
  std::size_t port;
  std::int64_t at_ns;
  unsigned char number;
  std::int64_t size_bytes;
};

inline FabricSettings gigabit() {
  FabricSettings settings;
  settings.name = "test";
  settings.rate_bits_per_s = kGigabit;
  return settings;
}

// A fabric whose hosts send what a test says, and that is run until nothing is left to happen.
class Bench {
 public:
  Bench(const FabricSettings& settings, std::size_t port_count) : fabric(settings, port_count) {}

  // Addresses are small numbers; 0xff is everybody.
  void send(std::size_t port, std::int64_t now_ns, unsigned char from, unsigned char to,
            std::int64_t size_bytes = kFrameBytes, unsigned char number = 0) {
    FramePointer frame = pool_.take();
    frame->data.fill(0);
    std::memset(frame->data.data(), to == kBroadcast ? kBroadcast : 0, 6);
    frame->data[5] = to;
    frame->data[11] = from;
    frame->data[14] = number;
    frame->size_bytes = static_cast<std::size_t>(size_bytes);
    fabric.accept(port, std::move(frame), now_ns);
  }

  // Lets every host say a word, so that the switch knows where all are, and forgets about it.
  void introduce_all() {
    for (std::size_t port = 0; port < fabric.port_count(); ++port) {
      send(port, 0, static_cast<unsigned char>(port), kBroadcast, 60);
    }
    run();
    fabric.reset_counters(0);
  }

  // Returns all deliveries in the order of their times, each at the moment at which it is due.
  std::vector<Seen> run() {
    std::vector<Seen> seen;
    for (std::int64_t now_ns = fabric.next_event_ns(); now_ns != kNever;
         now_ns = fabric.next_event_ns()) {
      fabric.advance(now_ns);
      for (std::size_t port = 0; port < fabric.port_count(); ++port) {
        for (Delivery delivery = fabric.next_delivery(port, now_ns); delivery.frame;
             delivery = fabric.next_delivery(port, now_ns)) {
          const auto size_bytes = static_cast<std::int64_t>(delivery.frame->size_bytes);
          fabric.record_delivery(port, size_bytes, 0);
          seen.push_back({port, delivery.due_ns, delivery.frame->data[14], size_bytes});
        }
      }
    }
    return seen;
  }

 private:
  FramePool pool_;  // outlives the frames that the fabric holds

 public:
  Fabric fabric;
};

constexpr std::int64_t kLater = 1'000'000;  // after every introduction is over

}  // namespace fabriscope::lab
