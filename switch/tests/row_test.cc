// Two switches in a row: a pause spreads from one to the other, and to who has no part in it.
#include <algorithm>
#include <vector>

#include "check.h"
#include "qos_bench.h"

namespace fabriscope::lab {
namespace {

FabricSettings row_of_two(FabricSettings settings) {
  settings.qos->switch_of_port = {0, 0, 0, 1, 1, 1};
  return settings;
}

TEST(a_frame_crosses_both_switches) {
  FabricSettings settings = row_of_two(with_priorities());
  settings.delay_ns = 5'000;
  QosBench bench(settings, 6);
  bench.send(0, kLater, tagged(4, 0, 3));
  const std::vector<Came> came = bench.run();
  CHECK_EQUAL(came.size(), 1U);
  CHECK_EQUAL(came[0].port, 4U);
  CHECK_EQUAL(came[0].at_ns, kLater + 3 * kFrameNs + 2 * 5'000);
}

// Hosts 0 and 1 (with 4) fill host 3 behind the other switch; host 2 sends to the idle host 5
// there, a short frame in each frame's time. Returns the longest that one of them took.
std::int64_t longest_across(const FabricSettings& settings, std::size_t victims_priority) {
  QosBench bench(settings, 6);
  const auto sent_ns = [](int number) { return kLater + (50 + number) * kFrameNs; };
  for (const std::size_t from : {0U, 1U, 4U})
    bench.send_many(from, kLater, 200, tagged(3, from, 3));
  for (int number = 0; number < 200; ++number)
    bench.send(2, sent_ns(number), tagged(5, 2, victims_priority, 100, number));
  std::int64_t longest_ns = 0;
  std::size_t count = 0;
  for (const Came& one : data_of(bench.run())) {
    ++count;
    if (one.port == 5) longest_ns = std::max(longest_ns, one.at_ns - sent_ns(one.number()));
  }
  CHECK_EQUAL(count, 800U);
  return longest_ns;
}

TEST(a_pause_spreads_over_the_next_switch_to_a_victim) {
  const FabricSettings by_priority = row_of_two(lossless(1U << 3U, 4));
  FabricSettings by_link = row_of_two(lossless(0, 4));
  by_link.on_full = OnFull::kPause;
  constexpr std::int64_t kThreeWiresNs = 3 * 124 * 8;
  // With a priority of its own, the higher one, it waits on the trunk for the frame that has begun.
  CHECK_EQUAL(longest_across(by_priority, 5) <= kFrameNs + kThreeWiresNs, true);
  // What stops the trunk stops it, too, until the next switch has sent what it held.
  CHECK_EQUAL(longest_across(by_link, 5) > 2 * kFrameNs + kThreeWiresNs, true);
  CHECK_EQUAL(longest_across(by_priority, 3) > 2 * kFrameNs + kThreeWiresNs, true);
}

TEST(a_cable_between_switches_counts_each_direction) {
  QosBench bench(row_of_two(with_priorities()), 6);
  for (const std::size_t from : {0U, 1U}) bench.send_many(from, kLater, 20, tagged(3, from, 3));
  bench.send(4, kLater, tagged(2, 4, 3));
  bench.run();
  QosFabric& fabric = bench.fabric;
  CHECK_EQUAL(fabric.trunk_count(), 2U);
  for (std::size_t trunk = 0; trunk < 2; ++trunk) {
    const bool is_up = fabric.trunk_between(trunk) == std::pair<std::size_t, std::size_t>(1, 2);
    const PortTotals totals = fabric.take_trunk_totals(trunk, kLater);
    CHECK_EQUAL(totals.wire_bytes % wire_bytes(kFrameBytes), 0);
    CHECK_EQUAL(totals.wire_bytes >= (is_up ? 40 : 1) * wire_bytes(kFrameBytes), true);
    CHECK_EQUAL(totals.queue_bytes > kFrameBytes, is_up);  // two cables into one
    CHECK_EQUAL(totals.dropped_frames + totals.pauses, 0);
    CHECK_EQUAL(fabric.take_trunk_totals(trunk, kLater).queue_bytes, 0);
  }
}

}  // namespace
}  // namespace fabriscope::lab
