// A fabric with priorities on a clock that the tests make up. Frames are read as bytes, by what the
// standards say and without the switch's own code.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "bench.h"
#include "qos_fabric.h"

namespace fabriscope::lab {

using Bytes = std::vector<unsigned char>;

struct Came {
  std::size_t port;
  std::int64_t at_ns;
  Bytes bytes;

  bool is_pause() const { return bytes[12] == 0x88 && bytes[13] == 0x08; }
  std::size_t priority() const { return bytes[14] >> 5U; }  // of a tagged frame
  int number() const { return bytes[18] << 8U | bytes[19]; }
};

inline FabricSettings with_priorities() {
  FabricSettings settings = gigabit();
  settings.qos = QosSettings{};
  return settings;
}

inline FabricSettings lossless(std::uint8_t priorities, std::int64_t xoff_frames) {
  FabricSettings settings = with_priorities();
  settings.qos->lossless = priorities;
  settings.qos->xoff_bytes = xoff_frames * kFrameBytes;
  settings.qos->xon_bytes = xoff_frames * kFrameBytes / 2;
  return settings;
}

inline Bytes frame_to(std::size_t to, std::size_t from, std::int64_t size_bytes) {
  Bytes bytes(static_cast<std::size_t>(size_bytes), 0);
  if (to == kBroadcast) std::fill_n(bytes.begin(), 6, kBroadcast);
  bytes[5] = static_cast<unsigned char>(to);
  bytes[11] = static_cast<unsigned char>(from);
  return bytes;
}

inline Bytes tagged(std::size_t to, std::size_t from, std::size_t priority,
                    std::int64_t size_bytes = kFrameBytes, int number = 0) {
  Bytes bytes = frame_to(to, from, size_bytes);
  bytes[12] = 0x81;
  bytes[14] = static_cast<unsigned char>(priority << 5U);
  bytes[16] = 0x88;  // of local experiments: not IP
  bytes[17] = 0xb5;
  bytes[18] = static_cast<unsigned char>(number >> 8);
  bytes[19] = static_cast<unsigned char>(number);
  return bytes;
}

// The sum of an IPv4 header's words in ones' complement: 0xffff where its checksum is right.
inline std::uint32_t header_sum(const Bytes& bytes, std::size_t at) {
  std::uint32_t sum = 0;
  for (std::size_t i = at; i < at + 20; i += 2) {
    sum += static_cast<std::uint32_t>(bytes[i]) << 8U | bytes[i + 1];
  }
  while (sum > 0xffffU) sum = (sum & 0xffffU) + (sum >> 16U);
  return sum;
}

inline Bytes ipv4(std::size_t to, std::size_t from, unsigned char traffic_class,
                  std::int64_t size_bytes = kFrameBytes) {
  Bytes bytes = frame_to(to, from, size_bytes);
  bytes[12] = 0x08;
  bytes[14] = 0x45;
  bytes[15] = traffic_class;
  bytes[16] = static_cast<unsigned char>((size_bytes - 14) >> 8);
  bytes[17] = static_cast<unsigned char>(size_bytes - 14);
  bytes[22] = 64;
  bytes[23] = 17;
  bytes[26] = 10;
  bytes[29] = static_cast<unsigned char>(from);
  bytes[30] = 10;
  bytes[33] = static_cast<unsigned char>(to);
  const std::uint32_t sum = ~header_sum(bytes, 14) & 0xffffU;
  bytes[24] = static_cast<unsigned char>(sum >> 8U);
  bytes[25] = static_cast<unsigned char>(sum);
  return bytes;
}

// What a host's program would send to stop a priority (802.1Qbb), byte by byte.
inline Bytes priority_pause(std::size_t priority, std::uint16_t quanta) {
  Bytes bytes(60, 0);
  const Bytes head{0x01, 0x80, 0xc2, 0, 0, 1, 2, 2, 2, 2, 2, 2, 0x88, 0x08, 0x01, 0x01, 0};
  std::copy(head.begin(), head.end(), bytes.begin());
  bytes[17] = static_cast<unsigned char>(1U << priority);
  bytes[18 + 2 * priority] = static_cast<unsigned char>(quanta >> 8U);
  bytes[19 + 2 * priority] = static_cast<unsigned char>(quanta);
  return bytes;
}

class QosBench {
 public:
  QosBench(const FabricSettings& settings, std::size_t port_count) : fabric(settings, port_count) {
    for (std::size_t port = 0; port < port_count; ++port)
      send(port, 0, frame_to(kBroadcast, port, 60));
    run();
    fabric.reset_counters(0);
  }

  void send(std::size_t port, std::int64_t now_ns, const Bytes& bytes) {
    FramePointer frame = pool_.take();
    std::copy(bytes.begin(), bytes.end(), frame->data.begin());
    frame->size_bytes = bytes.size();
    fabric.accept(port, std::move(frame), now_ns);
  }
  void send_many(std::size_t port, std::int64_t now_ns, int count, const Bytes& bytes) {
    for (int i = 0; i < count; ++i) send(port, now_ns, bytes);
  }

  // All deliveries until nothing is left to happen, or until a moment.
  std::vector<Came> run(std::int64_t until_ns = kNever) {
    std::vector<Came> came;
    for (std::int64_t now_ns = fabric.next_event_ns(); now_ns != kNever && now_ns <= until_ns;
         now_ns = fabric.next_event_ns()) {
      fabric.advance(now_ns);
      for (std::size_t port = 0; port < fabric.port_count(); ++port) {
        for (Delivery delivery = fabric.next_delivery(port, now_ns); delivery.frame;
             delivery = fabric.next_delivery(port, now_ns)) {
          const auto* data = delivery.frame->data.data();
          came.push_back({port, delivery.due_ns, Bytes(data, data + delivery.frame->size_bytes)});
        }
      }
    }
    return came;
  }

 private:
  FramePool pool_;  // outlives the frames that the fabric holds

 public:
  QosFabric fabric;
};

inline std::vector<Came> data_of(std::vector<Came> came) {
  came.erase(
      std::remove_if(came.begin(), came.end(), [](const Came& one) { return one.is_pause(); }),
      came.end());
  return came;
}

inline std::vector<Came> pauses_of(std::vector<Came> came) {
  came.erase(
      std::remove_if(came.begin(), came.end(), [](const Came& one) { return !one.is_pause(); }),
      came.end());
  return came;
}

}  // namespace fabriscope::lab
