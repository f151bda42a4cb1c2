// Pauses by priority (IEEE 802.1Qbb) and of whole links (802.3 annex 31B): the frames as they are
// on the wire, what obeys them, and what is lost where memory is too small.
#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <vector>

#include "check.h"
#include "qos_bench.h"

namespace fabriscope::lab {
namespace {

constexpr std::int64_t kQuantumNs = 512;  // at one gigabit a second

TEST(a_full_input_sends_the_frame_of_the_standard_and_takes_it_back) {
  QosBench bench(lossless(1U << 3U, 4), 3);
  bench.send_many(1, kLater, 40, tagged(0, 1, 3));
  bench.send_many(2, kLater, 40, tagged(0, 2, 3));
  const std::vector<Came> orders = pauses_of(bench.run());
  CHECK_EQUAL(orders.size() >= 4U, true);
  // Destination 01-80-C2-00-00-01, type 8808, opcode 0101, the vector of classes, eight times.
  Bytes expected(60, 0);
  const Bytes head{0x01, 0x80, 0xc2, 0, 0, 0x01};
  std::copy(head.begin(), head.end(), expected.begin());
  expected[12] = 0x88;
  expected[13] = 0x08;
  expected[14] = 0x01;
  expected[15] = 0x01;
  expected[17] = 0x08;
  std::map<std::size_t, bool> is_stopped;
  for (const Came& one : orders) {
    CHECK_EQUAL(one.port == 1 || one.port == 2, true);
    Bytes seen = one.bytes;
    std::fill_n(seen.begin() + 6, 6, static_cast<unsigned char>(0));  // whoever sent it
    // In turn: stop for the longest time, go on.
    bool& stopped = is_stopped[one.port];
    expected[24] = expected[25] = stopped ? 0 : 0xff;
    CHECK_EQUAL(seen == expected, true);
    stopped = !stopped;
  }
  CHECK_EQUAL(is_stopped[1] || is_stopped[2], false);
}

TEST(a_link_is_paused_by_the_frame_of_802_3) {
  FabricSettings settings = lossless(0, 4);
  settings.on_full = OnFull::kPause;
  QosBench bench(settings, 3);
  bench.send_many(1, kLater, 40, tagged(0, 1, 3));
  bench.send_many(2, kLater, 40, tagged(0, 2, 5));
  const std::vector<Came> came = bench.run();
  const std::vector<Came> orders = pauses_of(came);
  CHECK_EQUAL(data_of(came).size(), 80U);
  CHECK_EQUAL(orders.empty(), false);
  for (const Came& one : orders) {
    CHECK_EQUAL(one.bytes.size(), 60U);
    CHECK_EQUAL(one.bytes[14] << 8U | one.bytes[15], 0x0001);
    const int quanta = one.bytes[16] << 8U | one.bytes[17];
    CHECK_EQUAL(quanta == 0xffff || quanta == 0, true);
    CHECK_EQUAL(
        std::all_of(one.bytes.begin() + 18, one.bytes.end(), [](int byte) { return byte == 0; }),
        true);
  }
}

struct Victim {
  std::int64_t longest_ns = 0;
  std::int64_t pauses = 0;
};

// Hosts 1 and 2 fill host 0 at priority 3; host 1 also sends to host 3, at priority 5.
Victim victim_beside(const FabricSettings& settings) {
  QosBench bench(settings, 4);
  bench.send_many(1, kLater, 200, tagged(0, 1, 3));
  bench.send_many(2, kLater, 200, tagged(0, 2, 3));
  const auto sent_ns = [](int number) { return kLater + (50 + number) * kFrameNs; };
  for (int number = 0; number < 200; ++number)
    bench.send(1, sent_ns(number), tagged(3, 1, 5, 100, number));
  Victim found;
  for (const Came& one : data_of(bench.run())) {
    if (one.port == 3)
      found.longest_ns = std::max(found.longest_ns, one.at_ns - sent_ns(one.number()));
  }
  found.pauses = bench.fabric.priority_pause_count(1, 5);
  return found;
}

TEST(a_pause_of_a_link_holds_up_a_victim_that_a_pause_of_another_priority_does_not) {
  FabricSettings by_link = lossless(0, 4);
  by_link.on_full = OnFull::kPause;
  const Victim of_link = victim_beside(by_link);
  const Victim of_priority = victim_beside(lossless(1U << 3U, 4));
  CHECK_EQUAL(of_link.pauses > 0, true);
  CHECK_EQUAL(of_priority.pauses, 0);
  // It waits for the frame of the other priority that has begun, and crosses two wires.
  CHECK_EQUAL(of_priority.longest_ns <= kFrameNs + 2 * 124 * 8, true);
  CHECK_EQUAL(of_link.longest_ns > 2 * of_priority.longest_ns, true);
}

TEST(all_priorities_at_once_lose_nothing) {
  FabricSettings settings = lossless(0xff, 2);
  settings.qos->is_fair = true;
  QosBench bench(settings, 4);
  for (std::size_t priority = 0; priority < 8; ++priority) {
    for (std::size_t from = 1; from < 4; ++from)
      bench.send_many(from, kLater, 60, tagged(0, from, priority));
  }
  std::array<int, 8> came{};
  for (const Came& one : data_of(bench.run())) ++came[one.priority()];
  for (const int count : came) CHECK_EQUAL(count, 180);
  CHECK_EQUAL(bench.fabric.counters(0).dropped_frames, 0);
  CHECK_EQUAL(bench.fabric.memory().used_bytes(), 0);
}

TEST(a_host_s_pause_lasts_for_its_quanta_and_for_its_priority_alone) {
  QosBench bench(with_priorities(), 2);
  bench.send(0, kLater, priority_pause(3, 1'000));
  const std::int64_t obeyed_ns = kLater + kShortNs;
  bench.send(1, kLater + 100, tagged(0, 1, 3));
  bench.send(1, kLater + 100, tagged(0, 1, 4));
  const std::vector<Came> came = bench.run();
  CHECK_EQUAL(came.size(), 2U);  // nobody gets the pause frame
  CHECK_EQUAL(came[0].priority(), 4U);
  CHECK_EQUAL(came[0].at_ns, kLater + 100 + 2 * kFrameNs);
  CHECK_EQUAL(came[1].priority(), 3U);
  CHECK_EQUAL(came[1].at_ns, obeyed_ns + 1'000 * kQuantumNs + kFrameNs);
}

TEST(a_host_takes_its_pause_back) {
  QosBench bench(with_priorities(), 2);
  bench.send(0, kLater, priority_pause(3, 0xffff));
  bench.send(1, kLater, tagged(0, 1, 3));
  bench.send(0, kLater + 100'000, priority_pause(3, 0));
  const std::vector<Came> came = bench.run();
  CHECK_EQUAL(came.size(), 1U);
  CHECK_EQUAL(came[0].at_ns, kLater + 100'000 + kShortNs + kFrameNs);
}

TEST(what_is_no_pause_frame_is_neither_obeyed_nor_forwarded) {
  QosBench bench(with_priorities(), 2);
  Bytes unknown = priority_pause(3, 0xffff);
  unknown[15] = 0x02;
  Bytes cut = priority_pause(3, 0xffff);
  cut.resize(20);
  bench.send(0, kLater, unknown);
  bench.send(0, kLater, cut);
  bench.send(1, kLater, tagged(0, 1, 3));
  const std::vector<Came> came = bench.run();
  CHECK_EQUAL(came.size(), 1U);
  CHECK_EQUAL(came[0].at_ns, kLater + 2 * kFrameNs);
}

TEST(a_stop_is_said_again_before_its_time_is_over) {
  QosBench bench(lossless(1U << 3U, 2), 2);
  constexpr std::int64_t kLongestNs = 0xffff * kQuantumNs;  // 33.6 ms
  // Host 0 stops its own port for five times as long.
  for (int i = 0; i < 10; ++i)
    bench.send(0, kLater + i * kLongestNs / 2, priority_pause(3, 0xffff));
  bench.send_many(1, kLater + 1'000, 50, tagged(0, 1, 3));
  const std::vector<Came> came = bench.run();
  CHECK_EQUAL(data_of(came).size(), 50U);
  CHECK_EQUAL(bench.fabric.counters(0).dropped_frames, 0);
  const std::vector<Came> orders = pauses_of(came);
  std::int64_t last_stop_ns = 0;
  int stops = 0;
  for (const Came& one : orders) {
    if (one.bytes[24] == 0) continue;
    if (stops > 0 && stops < 9) CHECK_EQUAL(one.at_ns - last_stop_ns < kLongestNs, true);
    last_stop_ns = one.at_ns;
    ++stops;
  }
  CHECK_EQUAL(stops >= 9, true);
}

TEST(a_storm_of_pauses_stops_those_that_send_there_and_ends_with_it) {
  QosBench bench(lossless(1U << 3U, 2), 4);
  for (int i = 0; i < 200; ++i) bench.send(0, kLater + i * 1'000'000, priority_pause(3, 0xffff));
  bench.send_many(1, kLater + 10'000, 100, tagged(0, 1, 3));
  bench.send_many(2, kLater + 10'000, 100, tagged(3, 2, 3));
  std::int64_t others_ns = 0;
  std::int64_t first_ns = kNever;
  std::size_t count = 0;
  for (const Came& one : data_of(bench.run())) {
    if (one.port == 3) others_ns = std::max(others_ns, one.at_ns);
    if (one.port == 0) first_ns = std::min(first_ns, one.at_ns);
    ++count;
  }
  CHECK_EQUAL(count, 200U);
  CHECK_EQUAL(others_ns, kLater + 10'000 + 101 * kFrameNs);
  CHECK_EQUAL(first_ns > kLater + 200'000'000, true);
}

// Settings that change while frames fly: nothing is lost but what is counted, nothing is kept, and
// nobody stays stopped.
TEST(whatever_is_changed_meanwhile_all_is_accounted_for) {
  std::mt19937_64 draw(11);
  for (int round = 0; round < 60; ++round) {
    FabricSettings settings = lossless(1U << 3U, 4);
    settings.buffer_bytes = 30 * kFrameBytes;
    if (round % 2 == 1) settings.qos->switch_of_port = {0, 0, 1, 1, 0};
    QosBench bench(settings, 5);
    std::size_t sent = 0;
    std::int64_t now_ns = kLater;
    std::size_t came = 0;
    for (int step = 0; step < 12; ++step) {
      for (std::size_t from = 1; from < 5; ++from) {
        const auto count = static_cast<int>(draw() % 40);
        bench.send_many(from, now_ns, count, tagged((from + 1 + draw() % 4) % 5, from, draw() % 8));
        sent += static_cast<std::size_t>(count);
      }
      now_ns += static_cast<std::int64_t>(draw() % 60) * kFrameNs;
      came += data_of(bench.run(now_ns)).size();
      QosSettings qos = *bench.fabric.settings().qos;
      qos.lossless = static_cast<std::uint8_t>(draw());
      qos.shared_bytes = draw() % 2 == 0 ? 0 : static_cast<std::int64_t>(draw() % 100'000);
      qos.xoff_bytes = draw() % 3 == 0 ? kUnset : static_cast<std::int64_t>(draw() % 20'000);
      qos.xon_bytes = draw() % 3 == 0 ? kUnset : static_cast<std::int64_t>(draw() % 5'000);
      qos.headroom_bytes = static_cast<std::int64_t>(draw() % 40'000);
      qos.is_fair = draw() % 2 == 0;
      bench.fabric.set_qos(qos, now_ns);
      bench.fabric.set_on_full(draw() % 4 == 0 ? OnFull::kPause : OnFull::kDrop, now_ns);
    }
    came += data_of(bench.run()).size();
    for (std::size_t port = 0; port < 5; ++port)
      CHECK_EQUAL(bench.fabric.queue_bytes(port, kNever), 0);
    const auto dropped = static_cast<std::size_t>(bench.fabric.dropped_everywhere());
    CHECK_EQUAL(came + dropped, sent);
    CHECK_EQUAL(came > 0, true);
    CHECK_EQUAL(bench.fabric.memory(0).used_bytes(), 0);
  }
}

}  // namespace
}  // namespace fabriscope::lab
