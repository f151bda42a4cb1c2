// Queues by priority, the shared buffer, and marks: each against its definition.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <sstream>
#include <vector>

#include "check.h"
#include "qos_bench.h"

namespace fabriscope::lab {
namespace {

TEST(without_congestion_priorities_change_no_time) {
  std::mt19937_64 draw(5);
  FabricSettings settings = gigabit();
  settings.delay_ns = 5'000;
  std::vector<std::vector<std::int64_t>> times;
  for (const bool has_priorities : {false, true}) {
    draw.seed(5);
    if (has_priorities) settings.qos = QosSettings{};
    Bench plain(settings, 4);
    QosBench bench(settings, 4);
    plain.introduce_all();
    for (int frame = 0; frame < 300; ++frame) {
      const std::size_t from = draw() % 4;
      const auto to = static_cast<unsigned char>((from + 1 + draw() % 3) % 4);
      const auto size_bytes = static_cast<std::int64_t>(60 + draw() % 1400);
      const std::int64_t at_ns = kLater + frame * 2'000;
      if (has_priorities) {
        bench.send(from, at_ns, frame_to(to, from, size_bytes));
      } else {
        plain.send(from, at_ns, static_cast<unsigned char>(from), to, size_bytes);
      }
    }
    times.emplace_back();
    for (const Seen& one : plain.run()) times.back().push_back(one.at_ns);
    for (const Came& one : bench.run()) times.back().push_back(one.at_ns);
    std::sort(times.back().begin(), times.back().end());
  }
  CHECK_EQUAL(times[0].size(), 300U);
  CHECK_EQUAL(times[0] == times[1], true);
}

TEST(a_higher_priority_waits_for_the_frame_on_the_wire_and_for_no_other) {
  QosBench bench(with_priorities(), 4);
  bench.send_many(1, kLater, 20, tagged(0, 1, 1));
  bench.send_many(2, kLater, 20, tagged(0, 2, 1));
  bench.send(3, kLater + 10 * kFrameNs, tagged(0, 3, 6, 64));
  std::int64_t urgent_ns = 0;
  for (const Came& one : bench.run()) {
    if (one.priority() == 6) urgent_ns = one.at_ns;
  }
  const std::int64_t in_switch_ns = kLater + 10 * kFrameNs + (64 + 24) * 8;
  CHECK_EQUAL(urgent_ns > in_switch_ns, true);
  CHECK_EQUAL(urgent_ns <= in_switch_ns + kFrameNs + (64 + 24) * 8, true);
}

TEST(the_priority_is_that_of_the_tag_else_of_the_dscp_else_none) {
  FabricSettings settings = with_priorities();
  settings.qos->priority_of_dscp[26] = 5;
  QosBench bench(settings, 2);
  bench.send(0, kLater, tagged(1, 0, 3));
  bench.send(0, kLater, ipv4(1, 0, 26 << 2));
  bench.send(0, kLater, ipv4(1, 0, 48 << 2));
  bench.send(0, kLater, frame_to(1, 0, 60));
  Bytes both = ipv4(1, 0, 26 << 2);
  const Bytes tag{0x81, 0, 0x40, 0};
  both.insert(both.begin() + 12, tag.begin(), tag.end());
  bench.send(0, kLater, both);
  Bytes ipv6 = frame_to(1, 0, 100);
  ipv6[12] = 0x86;
  ipv6[13] = 0xdd;
  ipv6[14] = 0x60 | 32 >> 2;  // DSCP 32: the upper four bits of the traffic class are in this byte
  bench.send(0, kLater, ipv6);
  std::ostringstream json;
  bench.run();
  bench.fabric.write_more(json, 1, kLater);
  for (const char* expected : {"{\"priority\":0,\"frames\":1,", "{\"priority\":2,\"frames\":1,",
                               "{\"priority\":3,\"frames\":1,", "{\"priority\":4,\"frames\":1,",
                               "{\"priority\":5,\"frames\":1,", "{\"priority\":6,\"frames\":1,"}) {
    CHECK_EQUAL(json.str().find(expected) != std::string::npos, true);
  }
}

TEST(in_turns_each_priority_has_equally_many_bytes) {
  FabricSettings settings = with_priorities();
  settings.qos->is_fair = true;
  QosBench bench(settings, 3);
  bench.send_many(1, kLater, 300, tagged(0, 1, 6, 1514));
  bench.send_many(2, kLater, 3000, tagged(0, 2, 1, 200));
  std::array<std::int64_t, 8> bytes{};
  std::int64_t furthest = 0;
  for (const Came& one : bench.run(kLater + 200 * kFrameNs)) {
    bytes[one.priority()] += static_cast<std::int64_t>(one.bytes.size());
    if (one.at_ns > kLater + 20 * kFrameNs)
      furthest = std::max(furthest, std::abs(bytes[6] - bytes[1]));
  }
  CHECK_EQUAL(bytes[1] > 50'000, true);
  // By no more than a turn and a frame of each, and what the shorter one had before the other came.
  CHECK_EQUAL(furthest < 4 * 1538, true);
}

// T = alpha (B - Q): n queues that want more than they get hold alpha B / (1 + n alpha) each.
TEST(a_shared_buffer_divides_itself_by_the_published_formula) {
  for (const double alpha : {0.25, 1.0, 2.0, 8.0}) {
    for (const std::size_t full : {1U, 2U, 3U}) {
      constexpr std::int64_t kPool = 600'000;
      FabricSettings settings = with_priorities();
      settings.qos->shared_bytes = kPool;
      settings.qos->alpha_ppm = static_cast<std::int64_t>(alpha * 1e6);
      QosBench bench(settings, 3 * full);
      // Two senders for each full output: its queue grows at line rate.
      for (std::size_t out = 0; out < full; ++out) {
        for (std::size_t from = full + 2 * out; from < full + 2 * out + 2; ++from)
          bench.send_many(from, kLater, 1'000, tagged(out, from, 3));
      }
      // The queues are as full as they get, and full at the same time.
      bench.run(kLater + 900 * kFrameNs);
      const double expected = alpha * kPool / (1 + static_cast<double>(full) * alpha);
      std::int64_t held = 0;
      for (std::size_t out = 0; out < full; ++out) {
        const std::int64_t bytes = bench.fabric.priority_bytes(out, 3);
        // A frame that leaves one queue raises the threshold of all by alpha frames.
        const double step = (2 + alpha) * kFrameBytes;
        CHECK_EQUAL(std::abs(static_cast<double>(bytes) - expected) <= step, true);
        held += bytes;
      }
      CHECK_EQUAL(bench.fabric.memory().used_bytes(), held);
      bench.run();
      CHECK_EQUAL(bench.fabric.memory().used_bytes(), 0);
    }
  }
}

TEST(a_shared_buffer_never_holds_more_than_it_is) {
  FabricSettings settings = with_priorities();
  settings.qos->shared_bytes = 20 * kFrameBytes;
  settings.qos->alpha_ppm = 1'000'000'000;
  QosBench bench(settings, 3);
  bench.send_many(1, kLater, 200, tagged(0, 1, 3));
  bench.send_many(2, kLater, 200, tagged(0, 2, 4));
  bench.run();
  CHECK_EQUAL(bench.fabric.counters(0).maximum_queue_bytes <= 20 * kFrameBytes, true);
  CHECK_EQUAL(bench.fabric.counters(0).maximum_queue_bytes > 18 * kFrameBytes, true);
}

TEST(a_step_marks_what_finds_more_than_it_in_the_queue) {
  FabricSettings settings = with_priorities();
  settings.qos->ecn_min_bytes = settings.qos->ecn_max_bytes = 10 * kFrameBytes;
  QosBench bench(settings, 3);
  constexpr int kFrames = 100;
  bench.send_many(1, kLater, kFrames, ipv4(0, 1, 1));
  bench.send_many(2, kLater, kFrames, ipv4(0, 2, 2));
  std::int64_t marked = 0;
  std::int64_t first_marked = -1;
  std::int64_t place = 0;
  for (const Came& one : bench.run()) {
    const bool is_marked = (one.bytes[15] & 3U) == 3;
    CHECK_EQUAL(header_sum(one.bytes, 14), 0xffffU);
    if (is_marked && first_marked < 0) first_marked = place;
    marked += is_marked ? 1 : 0;
    ++place;
  }
  CHECK_EQUAL(place, 2 * kFrames);
  CHECK_EQUAL(marked, bench.fabric.marked_frames(0));
  // Two frames come in a frame's time and one leaves: before the pair number p (from 0) has come
  // there are p in the queue, so frame 2p finds p of them and frame 2p + 1 finds p + 1. The first
  // to find 11 is frame 21.
  CHECK_EQUAL(first_marked, 21);
  CHECK_EQUAL(marked, 2 * kFrames - 21);
}

TEST(between_two_thresholds_the_chance_grows_evenly) {
  FabricSettings settings = with_priorities();
  settings.qos->ecn_min_bytes = 0;
  settings.qos->ecn_max_bytes = 1'000 * kFrameBytes;
  settings.qos->ecn_ppb = 500'000'000;
  QosBench bench(settings, 3);
  constexpr int kFrames = 900;
  bench.send_many(1, kLater, kFrames, ipv4(0, 1, 1));
  bench.send_many(2, kLater, kFrames, ipv4(0, 2, 1));
  bench.run();
  // Pair p finds p and p + 1 frames: chances 0.5 p / 1000 and 0.5 (p + 1) / 1000.
  double expected = 0;
  double variance = 0;
  for (int pair = 0; pair < kFrames; ++pair) {
    for (const double chance : {0.0005 * pair, 0.0005 * (pair + 1)}) {
      expected += chance;
      variance += chance * (1 - chance);
    }
  }
  const double apart = std::abs(static_cast<double>(bench.fabric.marked_frames(0)) - expected);
  CHECK_EQUAL(apart < 4 * std::sqrt(variance), true);
}

TEST(who_cannot_be_told_is_not_marked) {
  FabricSettings settings = with_priorities();
  settings.qos->ecn_min_bytes = settings.qos->ecn_max_bytes = 0;
  QosBench bench(settings, 3);
  const Bytes untold = ipv4(0, 1, 0);
  bench.send_many(1, kLater, 50, untold);
  bench.send_many(2, kLater, 50, ipv4(0, 2, 3));
  for (const Came& one : bench.run()) {
    if (one.bytes[11] == 1) CHECK_EQUAL(one.bytes == untold, true);
    if (one.bytes[11] == 2) CHECK_EQUAL(one.bytes[15] & 3, 3);
  }
}

TEST(ipv6_and_tagged_frames_are_marked_too) {
  FabricSettings settings = with_priorities();
  settings.qos->ecn_min_bytes = settings.qos->ecn_max_bytes = 0;
  QosBench bench(settings, 3);
  Bytes inside = ipv4(0, 1, 1);
  const Bytes tag{0x81, 0, 0x40, 0};
  inside.insert(inside.begin() + 12, tag.begin(), tag.end());
  Bytes ipv6 = frame_to(0, 2, 200);
  ipv6[12] = 0x86;
  ipv6[13] = 0xdd;
  ipv6[14] = 0x64;  // DSCP 16
  ipv6[15] = 0x2a;  // ECT(0), and a flow label
  bench.send_many(1, kLater, 10, inside);
  bench.send_many(2, kLater, 10, ipv6);
  int marked = 0;
  for (const Came& one : bench.run()) {
    if (one.bytes[12] == 0x81) {
      CHECK_EQUAL(header_sum(one.bytes, 18), 0xffffU);
      marked += (one.bytes[19] & 3U) == 3 ? 1 : 0;
    } else {
      CHECK_EQUAL(one.bytes[14], 0x64);
      CHECK_EQUAL(one.bytes[15] & 0x0f, 0x0a);
      marked += (one.bytes[15] >> 4U & 3U) == 3 ? 1 : 0;
    }
  }
  CHECK_EQUAL(marked, bench.fabric.marked_frames(0));
  CHECK_EQUAL(marked > 10, true);
}

TEST(frames_that_are_cut_short_are_carried_all_the_same) {
  FabricSettings settings = with_priorities();
  settings.qos->ecn_min_bytes = settings.qos->ecn_max_bytes = 0;
  QosBench bench(settings, 3);
  for (const std::size_t size : {12U, 13U, 14U, 16U, 18U, 20U, 30U}) {
    for (const std::size_t from : {1U, 2U}) {
      Bytes ip = ipv4(0, from, 1, 60);
      Bytes tag = tagged(0, from, 3, 60);
      ip.resize(size);
      tag.resize(size);
      bench.send(from, kLater, ip);
      bench.send(from, kLater, tag);
    }
  }
  CHECK_EQUAL(bench.run().size(), 28U);
  CHECK_EQUAL(kShortNs, Wire(kGigabit).pass(0, kMinimumFrameBytes));
}

}  // namespace
}  // namespace fabriscope::lab
