// The switch on a clock that the tests make up: what it does to every frame, to the nanosecond.
#include <algorithm>
#include <vector>

#include "bench.h"
#include "check.h"

namespace fabriscope::lab {
namespace {

TEST(a_wire_does_not_drift) {
  constexpr std::int64_t kRate = 3'000'000'000;
  constexpr std::int64_t kFrames = 1'000'000;
  Wire wire(kRate);
  std::int64_t end_ns = 0;
  for (std::int64_t frame = 0; frame < kFrames; ++frame) end_ns = wire.pass(0, 61);
  CHECK_EQUAL(end_ns, kFrames * (61 + 24) * 8 * 1'000'000'000 / kRate);
}

TEST(a_wire_that_was_idle_starts_when_the_frame_is_ready) {
  Wire wire(kGigabit);
  CHECK_EQUAL(wire.pass(100, kFrameBytes), 100 + kFrameNs);
  CHECK_EQUAL(wire.pass(100, kFrameBytes), 100 + 2 * kFrameNs);
  CHECK_EQUAL(wire.pass(1'000'000, kFrameBytes), 1'000'000 + kFrameNs);
}

TEST(short_frames_are_padded) {
  CHECK_EQUAL(wire_bytes(1), 84);
  CHECK_EQUAL(wire_bytes(60), 84);
  CHECK_EQUAL(wire_bytes(61), 85);
  Wire wire(kGigabit);
  CHECK_EQUAL(wire.pass(0, 42), 84 * 8);
}

TEST(a_frame_is_stored_and_forwarded) {
  FabricSettings settings = gigabit();
  settings.delay_ns = 5'000;
  Bench bench(settings, 2);
  bench.introduce_all();
  bench.send(0, kLater, 0, 1);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 1U);
  CHECK_EQUAL(seen[0].port, 1U);
  CHECK_EQUAL(seen[0].at_ns, kLater + 2 * kFrameNs + 5'000);
  CHECK_EQUAL(seen[0].size_bytes, kFrameBytes);
}

TEST(a_train_takes_its_wire_time_and_one_frame_more) {
  FabricSettings settings = gigabit();
  settings.delay_ns = 5'000;
  Bench bench(settings, 2);
  bench.introduce_all();
  for (unsigned char number = 0; number < 100; ++number) {
    bench.send(0, kLater, 0, 1, kFrameBytes, number);
  }
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 100U);
  for (std::size_t index = 0; index < seen.size(); ++index) {
    CHECK_EQUAL(seen[index].number, static_cast<unsigned char>(index));
    CHECK_EQUAL(seen[index].at_ns,
                kLater + (static_cast<std::int64_t>(index) + 2) * kFrameNs + 5'000);
  }
}

TEST(directions_do_not_disturb_each_other) {
  Bench bench(gigabit(), 2);
  bench.introduce_all();
  bench.send(0, kLater, 0, 1);
  bench.send(1, kLater, 1, 0);
  for (const Seen& one : bench.run()) CHECK_EQUAL(one.at_ns, kLater + 2 * kFrameNs);
}

TEST(frames_of_several_ports_leave_in_the_order_in_which_they_arrived) {
  Bench bench(gigabit(), 4);
  bench.introduce_all();
  bench.send(2, kLater + 200, 2, 0, 60, 3);
  bench.send(1, kLater, 1, 0, kFrameBytes, 4);  // long: it arrives last, though it was sent first
  bench.send(3, kLater + 100, 3, 0, 60, 2);
  bench.send(3, kLater + 100, 3, 0, 1000, 5);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 4U);
  const std::vector<unsigned char> expected{2, 3, 5, 4};
  for (std::size_t index = 0; index < expected.size(); ++index) {
    CHECK_EQUAL(static_cast<int>(seen[index].number), static_cast<int>(expected[index]));
  }
}

TEST(a_full_buffer_drops_what_comes_last) {
  FabricSettings settings = gigabit();
  settings.buffer_bytes = 10 * kFrameBytes;
  Bench bench(settings, 3);
  bench.introduce_all();
  // Two senders at line rate fill the output at line rate: 2n frames come in n frame times.
  constexpr int kFrames = 30;
  for (int frame = 0; frame < kFrames; ++frame) {
    bench.send(1, kLater, 1, 0);
    bench.send(2, kLater, 2, 0);
  }
  const auto delivered = static_cast<std::int64_t>(bench.run().size());
  const PortCounters& counters = bench.fabric.counters(0);
  // While the last pair arrives, kFrames - 1 have left, and ten are in the buffer.
  CHECK_EQUAL(delivered, kFrames - 1 + 10);
  CHECK_EQUAL(counters.dropped_frames, 2 * kFrames - delivered);
  CHECK_EQUAL(counters.dropped_bytes, (2 * kFrames - delivered) * kFrameBytes);
  CHECK_EQUAL(counters.maximum_queue_bytes, 10 * kFrameBytes);
  CHECK_EQUAL(counters.down.frames, delivered);
  CHECK_EQUAL(bench.fabric.counters(1).up.frames + bench.fabric.counters(2).up.frames,
              static_cast<std::int64_t>(2 * kFrames));
}

TEST(a_small_frame_may_fit_where_a_large_one_does_not) {
  FabricSettings settings = gigabit();
  settings.buffer_bytes = 2 * kFrameBytes + 100;
  Bench bench(settings, 5);
  bench.introduce_all();
  for (std::size_t port = 1; port < 4; ++port) {
    bench.send(port, kLater, static_cast<unsigned char>(port), 0);
  }
  bench.send(4, kLater + kFrameNs - 84 * 8 + 1, 4, 0, 60, 7);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 3U);
  CHECK_EQUAL(static_cast<int>(seen.back().number), 7);
  CHECK_EQUAL(bench.fabric.counters(0).dropped_bytes, kFrameBytes);
}

TEST(a_buffer_drains_at_line_rate) {
  Bench bench(gigabit(), 3);
  bench.introduce_all();
  bench.send(1, kLater, 1, 0);
  bench.send(2, kLater, 2, 0);
  bench.fabric.advance(kLater + kFrameNs);
  CHECK_EQUAL(bench.fabric.queue_bytes(0, kLater + kFrameNs), 2 * kFrameBytes);
  CHECK_EQUAL(bench.fabric.queue_bytes(0, kLater + 2 * kFrameNs - 1), 2 * kFrameBytes);
  CHECK_EQUAL(bench.fabric.queue_bytes(0, kLater + 2 * kFrameNs), kFrameBytes);
  CHECK_EQUAL(bench.fabric.queue_bytes(0, kLater + 3 * kFrameNs), 0);
}

TEST(a_lone_frame_waits_for_company_so_long) {
  FabricSettings settings = gigabit();
  settings.rx_coalesce_ns = 80'000;
  settings.rx_coalesce_frames = 15;
  Bench bench(settings, 2);
  bench.introduce_all();
  bench.send(0, kLater, 0, 1, 60);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 1U);
  CHECK_EQUAL(seen[0].at_ns, kLater + 2 * 84 * 8 + 80'000);
}

TEST(enough_frames_end_the_waiting) {
  FabricSettings settings = gigabit();
  settings.rx_coalesce_ns = 80'000;
  settings.rx_coalesce_frames = 4;
  Bench bench(settings, 2);
  bench.introduce_all();
  for (int frame = 0; frame < 6; ++frame) bench.send(0, kLater, 0, 1);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 6U);
  const std::int64_t first_ns = kLater + 2 * kFrameNs;
  for (std::size_t index = 0; index < 4; ++index) {
    CHECK_EQUAL(seen[index].at_ns, first_ns + 3 * kFrameNs);
  }
  for (std::size_t index = 4; index < 6; ++index) {
    CHECK_EQUAL(seen[index].at_ns, first_ns + 4 * kFrameNs + 80'000);
  }
}

TEST(what_arrives_while_the_first_waits_is_handed_over_with_it) {
  FabricSettings settings = gigabit();
  settings.rx_coalesce_ns = 80'000;
  settings.rx_coalesce_frames = 100;
  Bench bench(settings, 2);
  bench.introduce_all();
  bench.send(0, kLater, 0, 1, 60);
  bench.send(0, kLater + 70'000, 0, 1, 60);
  bench.send(0, kLater + 90'000, 0, 1, 60);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 3U);
  const std::int64_t one_way_ns = static_cast<std::int64_t>(2) * 84 * 8;
  CHECK_EQUAL(seen[0].at_ns, kLater + one_way_ns + 80'000);
  CHECK_EQUAL(seen[1].at_ns, kLater + one_way_ns + 80'000);
  CHECK_EQUAL(seen[2].at_ns, kLater + one_way_ns + 90'000 + 80'000);
}

TEST(an_unknown_address_goes_everywhere_but_back) {
  Bench bench(gigabit(), 4);
  bench.send(1, 0, 1, 3);
  std::vector<std::size_t> ports;
  for (const Seen& one : bench.run()) ports.push_back(one.port);
  CHECK_EQUAL(ports.size(), 3U);
  CHECK_EQUAL(std::count(ports.begin(), ports.end(), 1U), 0);
  bench.send(3, kLater, 3, 1);  // the switch has learnt where 1 is
  const std::vector<Seen> answer = bench.run();
  CHECK_EQUAL(answer.size(), 1U);
  CHECK_EQUAL(answer[0].port, 1U);
}

TEST(a_broadcast_goes_everywhere_even_if_all_are_known) {
  Bench bench(gigabit(), 4);
  bench.introduce_all();
  bench.send(2, kLater, 2, kBroadcast, 60, 9);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 3U);
  for (const Seen& one : seen) {
    CHECK_EQUAL(one.port == 2, false);
    CHECK_EQUAL(static_cast<int>(one.number), 9);
  }
}

TEST(a_frame_never_goes_back_where_it_came_from) {
  Bench bench(gigabit(), 2);
  bench.introduce_all();
  bench.send(0, kLater, 0, 0);
  CHECK_EQUAL(bench.run().size(), 0U);
}

TEST(a_host_that_moves_is_learnt_again) {
  Bench bench(gigabit(), 3);
  bench.introduce_all();
  bench.send(2, kLater, 1, kBroadcast, 60);
  bench.run();
  bench.send(0, 2 * kLater, 0, 1);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 1U);
  CHECK_EQUAL(seen[0].port, 2U);
}

TEST(what_arrives_soon_is_forwarded_at_once_but_in_order) {
  FabricSettings settings = gigabit();
  settings.delay_ns = 5'000;
  Bench bench(settings, 3);
  bench.introduce_all();
  bench.send(1, kLater, 1, 0, 60, 1);
  bench.fabric.advance(kLater - 1);  // a frame of port 2 may still come before it
  bench.send(2, kLater - 1, 2, 0, 60, 2);
  bench.fabric.advance(kLater);
  const Delivery first = bench.fabric.next_delivery(0, kLater + 1'000'000);
  const Delivery second = bench.fabric.next_delivery(0, kLater + 1'000'000);
  CHECK_EQUAL(static_cast<int>(first.frame->data[14]), 2);
  CHECK_EQUAL(first.due_ns, kLater - 1 + 2 * kShortNs + 5'000);
  CHECK_EQUAL(static_cast<int>(second.frame->data[14]), 1);
  CHECK_EQUAL(second.due_ns, kLater - 1 + 3 * kShortNs + 5'000);
}

TEST(a_stamp_that_was_late_does_not_turn_time_back) {
  Bench bench(gigabit(), 3);
  bench.introduce_all();
  bench.send(1, kLater, 1, 0, 60, 1);
  bench.fabric.advance(kLater + 10'000);
  bench.send(2, kLater - 5'000, 2, 0, 60, 2);
  bench.fabric.advance(kLater + 10'000);
  const Delivery first = bench.fabric.next_delivery(0, kLater + 10'000);
  const Delivery second = bench.fabric.next_delivery(0, kLater + 10'000);
  CHECK_EQUAL(static_cast<int>(first.frame->data[14]), 1);
  CHECK_EQUAL(second.due_ns >= first.due_ns, true);
}

TEST(a_host_queues_its_own_frames_without_loss) {
  Bench bench(gigabit(), 2);
  bench.introduce_all();
  for (int frame = 0; frame < 1000; ++frame) bench.send(0, kLater, 0, 1);
  CHECK_EQUAL(bench.run().size(), 1000U);
  CHECK_EQUAL(bench.fabric.counters(0).uplink_maximum_queue_bytes, 1000 * kFrameBytes);
  CHECK_EQUAL(bench.fabric.counters(0).uplink_dropped_frames, 0);
  CHECK_EQUAL(bench.fabric.counters(1).maximum_queue_bytes, kFrameBytes);
}

TEST(no_rate_takes_no_time) {
  FabricSettings settings;
  settings.delay_ns = 500;
  Bench bench(settings, 2);
  bench.introduce_all();
  for (int frame = 0; frame < 10; ++frame) bench.send(0, kLater, 0, 1);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 10U);
  for (const Seen& one : seen) CHECK_EQUAL(one.at_ns, kLater + 500);
}

TEST(nothing_happens_in_an_idle_fabric) {
  Bench bench(gigabit(), 2);
  CHECK_EQUAL(bench.fabric.next_event_ns(), kNever);
  bench.send(0, 10, 0, 1, 60);
  // The frame cannot be at any host before it has crossed two cables.
  CHECK_EQUAL(bench.fabric.next_event_ns(), 10 + 2 * 84 * 8);
  CHECK_EQUAL(bench.fabric.next_delivery(1, kNever - 1).frame == nullptr, true);
}

TEST(lateness_is_counted_where_it_matters) {
  Bench bench(gigabit(), 2);
  bench.fabric.record_delivery(1, 60, 1'000);
  bench.fabric.record_delivery(1, 60, kLateNs + 1);
  bench.fabric.record_refusal(1);
  const PortCounters& counters = bench.fabric.counters(1);
  CHECK_EQUAL(counters.late_frames, 1);
  CHECK_EQUAL(counters.lateness_sum_ns, kLateNs + 1'001);
  CHECK_EQUAL(counters.lateness_maximum_ns, kLateNs + 1);
  CHECK_EQUAL(counters.lateness_histogram[1], 1);  // 1 us up to 2 us
  CHECK_EQUAL(counters.lateness_histogram[5], 1);  // 16 us up to 32 us
  CHECK_EQUAL(counters.refused_frames, 1);
  CHECK_EQUAL(counters.down.wire_bytes, 2 * 84);
}

}  // namespace
}  // namespace fabriscope::lab
