// What is wrong on purpose: lost, late and cut off frames.
#include "faults.h"

#include <algorithm>
#include <vector>

#include "bench.h"
#include "check.h"

namespace fabriscope::lab {
namespace {

std::vector<Seen> send_train(Bench& bench, int count, std::int64_t gap_ns = 0) {
  for (int frame = 0; frame < count; ++frame) {
    bench.send(1, kLater + frame * gap_ns, 1, 0, kFrameBytes, static_cast<unsigned char>(frame));
  }
  return bench.run();
}

TEST(every_nth_frame_is_lost) {
  FabricSettings settings = gigabit();
  Bench bench(settings, 2);
  bench.introduce_all();
  Faults faults;
  faults.drop_every = 10;
  bench.fabric.set_faults(0, faults, 0);
  const std::vector<Seen> seen = send_train(bench, 100);
  CHECK_EQUAL(seen.size(), 90U);
  CHECK_EQUAL(bench.fabric.counters(0).lost_frames, 10);
  for (const Seen& one : seen) CHECK_EQUAL(one.number % 10 == 9, false);
  // What is lost has taken its time on the cable.
  CHECK_EQUAL(seen.back().at_ns, kLater + 100 * kFrameNs);
}

TEST(frames_are_lost_by_chance_at_the_rate_asked_for) {
  FabricSettings settings = gigabit();
  settings.faults.loss_ppb = 100'000'000;
  std::vector<std::size_t> counts;
  for (const std::int64_t seed : {1, 1, 2}) {
    settings.seed = seed;
    Bench bench(settings, 2);
    bench.introduce_all();
    std::size_t count = 0;
    std::size_t hash = 0;
    for (const Seen& one : send_train(bench, 10'000)) {
      ++count;
      hash = hash * 31 + one.number;
    }
    CHECK_EQUAL(static_cast<std::int64_t>(count) + bench.fabric.counters(0).lost_frames, 10'000);
    // Binomial: 9000 with a standard deviation of 30.
    CHECK_EQUAL(count > 8'850 && count < 9'150, true);
    counts.push_back(hash);
  }
  CHECK_EQUAL(counts[0], counts[1]);
  CHECK_EQUAL(counts[0] == counts[2], false);
}

TEST(all_or_nothing_is_lost_for_certain) {
  PortFaults port(1);
  port.set({}, 0);
  for (int frame = 0; frame < 1000; ++frame) CHECK_EQUAL(port.loses() || port.reorders(), false);
  Faults all;
  all.loss_ppb = kPartsPerBillion;
  port.set(all, 0);
  for (int frame = 0; frame < 1000; ++frame) CHECK_EQUAL(port.loses(), true);
}

TEST(a_frame_that_waits_aside_is_overtaken) {
  Bench bench(gigabit(), 2);
  bench.introduce_all();
  Faults faults;
  faults.reorder_ppb = kPartsPerBillion;
  faults.reorder_delay_ns = 3 * kFrameNs + 100;
  bench.fabric.set_faults(0, faults, 0);
  bench.send(1, kLater, 1, 0, kFrameBytes, 0);
  bench.fabric.advance(kLater + kFrameNs);
  bench.fabric.set_faults(0, {}, kLater + kFrameNs);
  for (unsigned char number = 1; number < 8; ++number) {
    bench.send(1, kLater, 1, 0, kFrameBytes, number);
  }
  std::vector<int> order;
  for (const Seen& one : bench.run()) order.push_back(one.number);
  // It has come after one frame's time and joins the queue three later, behind number 3.
  const std::vector<int> expected{1, 2, 3, 0, 4, 5, 6, 7};
  CHECK_EQUAL(order == expected, true);
  CHECK_EQUAL(bench.fabric.counters(0).reordered_frames, 1);
}

TEST(reordering_loses_nothing) {
  FabricSettings settings = gigabit();
  settings.faults.reorder_ppb = 200'000'000;
  settings.faults.reorder_delay_ns = 50'000;
  Bench bench(settings, 2);
  bench.introduce_all();
  std::vector<int> order;
  for (const Seen& one : send_train(bench, 200)) order.push_back(one.number);
  CHECK_EQUAL(std::is_sorted(order.begin(), order.end()), false);
  CHECK_EQUAL(bench.fabric.counters(0).reordered_frames > 10, true);
  std::sort(order.begin(), order.end());
  for (int number = 0; number < 200; ++number) {
    CHECK_EQUAL(order[static_cast<std::size_t>(number)], number);
  }
}

TEST(a_link_that_is_down_carries_nothing_either_way) {
  Bench bench(gigabit(), 3);
  bench.introduce_all();
  Faults down;
  down.is_down = true;
  bench.fabric.set_faults(1, down, 0);
  bench.send(1, kLater, 1, 0);
  bench.send(0, kLater, 0, 1);
  bench.send(0, kLater, 0, 2);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 1U);
  CHECK_EQUAL(seen[0].port, 2U);
  CHECK_EQUAL(bench.fabric.counters(1).link_down_frames, 2);
  CHECK_EQUAL(bench.fabric.is_down(1, kLater), true);
  bench.fabric.set_faults(1, {}, 2 * kLater);
  bench.send(1, 2 * kLater, 1, 0);
  CHECK_EQUAL(bench.run().size(), 1U);
}

TEST(a_link_flaps_by_its_schedule) {
  Bench bench(gigabit(), 2);
  bench.introduce_all();
  Faults faults;
  faults.flap_period_ns = 1'000'000;
  faults.flap_down_ns = 300'000;
  bench.fabric.set_faults(1, faults, kLater);
  for (const std::int64_t period_ns : {0, 1'000'000, 7'000'000}) {
    CHECK_EQUAL(bench.fabric.is_down(1, kLater + period_ns), false);
    CHECK_EQUAL(bench.fabric.is_down(1, kLater + period_ns + 699'999), false);
    CHECK_EQUAL(bench.fabric.is_down(1, kLater + period_ns + 700'000), true);
    CHECK_EQUAL(bench.fabric.is_down(1, kLater + period_ns + 999'999), true);
  }
  CHECK_EQUAL(bench.fabric.is_down(1, kLater - 1), false);
  // One frame every 100 us for a period: those of the last 300 us are lost.
  CHECK_EQUAL(send_train(bench, 10, 100'000).size(), 7U);
  CHECK_EQUAL(bench.fabric.counters(1).link_down_frames, 3);
}

}  // namespace
}  // namespace fabriscope::lab
