// A switch that stops its senders instead of losing their frames.
#include "pause.h"

#include <algorithm>
#include <vector>

#include "bench.h"
#include "check.h"

namespace fabriscope::lab {
namespace {

FabricSettings pausing(std::int64_t buffer_frames) {
  FabricSettings settings = gigabit();
  settings.on_full = OnFull::kPause;
  settings.buffer_bytes = buffer_frames * kFrameBytes;
  return settings;
}

TEST(incast_loses_nothing_where_senders_are_paused) {
  Bench bench(pausing(40), 5);
  bench.introduce_all();
  constexpr int kFrames = 200;
  for (int frame = 0; frame < kFrames; ++frame) {
    for (unsigned char sender = 1; sender < 5; ++sender) bench.send(sender, kLater, sender, 0);
  }
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 4U * kFrames);
  // The wire to the receiver never ran dry: its time is what all take.
  CHECK_EQUAL(seen.back().at_ns, kLater + (4 * kFrames + 1) * kFrameNs);
  CHECK_EQUAL(bench.fabric.counters(0).dropped_frames, 0);
  for (std::size_t sender = 1; sender < 5; ++sender) {
    CHECK_EQUAL(bench.fabric.pause(sender).count() > 0, true);
    CHECK_EQUAL(bench.fabric.pause(sender).is_paused(), false);
    // Four hosts share one wire: each stands for about three quarters of the time.
    const std::int64_t paused_ns = bench.fabric.pause(sender).paused_ns(seen.back().at_ns);
    const std::int64_t share_ns = kFrames * kFrameNs;
    CHECK_EQUAL(5 * share_ns / 2 < paused_ns && paused_ns < 7 * share_ns / 2, true);
  }
  CHECK_EQUAL(bench.fabric.pause(0).count(), 0);
}

TEST(the_same_incast_loses_frames_where_they_are_dropped) {
  FabricSettings settings = pausing(40);
  settings.on_full = OnFull::kDrop;
  Bench bench(settings, 5);
  bench.introduce_all();
  for (int frame = 0; frame < 200; ++frame) {
    for (unsigned char sender = 1; sender < 5; ++sender) bench.send(sender, kLater, sender, 0);
  }
  CHECK_EQUAL(bench.run().size() < 800U, true);
  CHECK_EQUAL(bench.fabric.counters(0).dropped_frames > 0, true);
}

TEST(a_pause_takes_a_frame_s_time_and_what_is_on_its_way_still_comes) {
  FabricSettings settings = pausing(8);  // stops above four frames, goes on at two
  settings.delay_ns = 2'000;
  Bench bench(settings, 3);
  bench.introduce_all();
  for (int frame = 0; frame < 30; ++frame) {
    bench.send(1, kLater, 1, 0);
    bench.send(2, kLater, 2, 0);
  }
  CHECK_EQUAL(bench.run().size(), 60U);
  // Two frames come in a frame's time and one leaves: with the fourth pair there are five, and the
  // sender of the fifth is stopped. The fifth pair is on its way: with it there are six, and the
  // other one is stopped. Its sixth frame is on its way, too: it comes as one leaves.
  CHECK_EQUAL(bench.fabric.counters(0).maximum_queue_bytes, 6 * kFrameBytes);
  CHECK_EQUAL(bench.fabric.counters(0).dropped_frames, 0);
}

TEST(a_paused_host_s_frames_to_others_wait_too) {
  Bench bench(pausing(8), 4);
  bench.introduce_all();
  for (int frame = 0; frame < 30; ++frame) {
    bench.send(1, kLater, 1, 0);
    bench.send(2, kLater, 2, 0);
  }
  bench.send(1, kLater, 1, 3, kFrameBytes, 9);
  std::int64_t other_ns = 0;
  for (const Seen& one : bench.run()) {
    if (one.number == 9) other_ns = one.at_ns;
  }
  // Alone it would be there after 31 frames and one more.
  CHECK_EQUAL(other_ns > kLater + 40 * kFrameNs, true);
}

TEST(a_sender_that_fills_nothing_is_never_paused) {
  Bench bench(pausing(8), 4);
  bench.introduce_all();
  for (int frame = 0; frame < 30; ++frame) {
    bench.send(1, kLater, 1, 0);
    bench.send(2, kLater, 2, 0);
    bench.send(3, kLater, 3, 1);
  }
  bench.run();
  CHECK_EQUAL(bench.fabric.pause(3).count(), 0);
  CHECK_EQUAL(bench.fabric.pause(0).count(), 0);
}

TEST(without_a_full_buffer_pausing_changes_no_time) {
  FabricSettings settings = gigabit();
  settings.delay_ns = 5'000;
  settings.buffer_bytes = 64 * kFrameBytes;
  std::vector<std::vector<std::int64_t>> times;
  for (const OnFull on_full : {OnFull::kDrop, OnFull::kPause}) {
    settings.on_full = on_full;
    Bench bench(settings, 3);
    bench.introduce_all();
    for (int frame = 0; frame < 20; ++frame) {
      bench.send(1, kLater + frame * 20'000, 1, 0, 60 + frame * 50);
      bench.send(2, kLater + frame * 30'000, 2, 0, 1000);
    }
    times.emplace_back();
    for (const Seen& one : bench.run()) times.back().push_back(one.at_ns);
  }
  CHECK_EQUAL(times[0].size(), 40U);
  CHECK_EQUAL(times[0] == times[1], true);
}

TEST(whoever_may_drop_again_lets_all_go) {
  Bench bench(pausing(8), 3);
  bench.introduce_all();
  for (int frame = 0; frame < 30; ++frame) {
    bench.send(1, kLater, 1, 0);
    bench.send(2, kLater, 2, 0);
  }
  bench.fabric.advance(kLater + 6 * kFrameNs);
  CHECK_EQUAL(bench.fabric.pause(1).is_paused(), true);
  bench.fabric.set_on_full(OnFull::kDrop, kLater + 6 * kFrameNs);
  CHECK_EQUAL(bench.fabric.pause(1).is_paused(), false);
  const auto delivered = static_cast<std::int64_t>(bench.run().size());
  CHECK_EQUAL(bench.fabric.counters(0).dropped_frames > 0, true);
  CHECK_EQUAL(delivered + bench.fabric.counters(0).dropped_frames, 60);
}

TEST(paused_time_is_from_stopping_to_going_on) {
  Pause pause;
  pause.hold(100);
  pause.hold(150);  // a second output: it is stopped already
  CHECK_EQUAL(pause.next_change_ns(), 100);
  pause.change();
  CHECK_EQUAL(pause.is_paused(), true);
  CHECK_EQUAL(pause.paused_ns(160), 60);
  pause.release(200);
  CHECK_EQUAL(pause.next_change_ns(), kNever);
  pause.release(300);
  pause.change();
  CHECK_EQUAL(pause.is_paused(), false);
  CHECK_EQUAL(pause.paused_ns(1'000), 200);
  CHECK_EQUAL(pause.count(), 1);
  CHECK_EQUAL(kShortNs, Wire(kGigabit).pass(0, kMinimumFrameBytes));
}

}  // namespace
}  // namespace fabriscope::lab
