// How much room a switch needs for what comes after it has stopped who sends, and that no more is.
#include <vector>

#include "check.h"
#include "qos_bench.h"
#include "switch_memory.h"

namespace fabriscope::lab {
namespace {

// What still comes after the frame that went beyond the threshold: the pause frame waits for a
// frame towards the host that has just begun, then crosses; the host completes the frame that it
// has just begun; and the cable to the switch is full. That frame itself is beyond the threshold,
// too.
std::int64_t headroom_bytes(std::int64_t delay_ns) {
  return (delay_ns + kFrameNs + kShortNs + kFrameNs) / 8 + kFrameBytes;
}

// Everybody sends to host 0, and host 0 to everybody, so that pause frames have to wait.
std::int64_t lost_with(std::int64_t headroom, std::int64_t delay_ns, std::int64_t begin_ns) {
  FabricSettings settings = lossless(1U << 3U, 3);
  settings.delay_ns = delay_ns;
  settings.qos->headroom_bytes = headroom;
  QosBench bench(settings, 5);
  constexpr int kFrames = 150;
  for (std::size_t from = 1; from < 5; ++from) {
    bench.send_many(from, kLater, kFrames, tagged(0, from, 3));
    bench.send_many(0, kLater + begin_ns, kFrames, tagged(from, 0, 1));
  }
  const std::size_t came = data_of(bench.run()).size();
  const std::int64_t dropped = bench.fabric.counters(0).dropped_frames;
  CHECK_EQUAL(static_cast<std::int64_t>(came) + dropped, 8 * kFrames);
  return dropped;
}

TEST(enough_headroom_loses_nothing_and_too_little_does) {
  for (const std::int64_t delay_ns : {0, 5'000, 100'000}) {
    const std::int64_t enough = headroom_bytes(delay_ns);
    for (const std::int64_t begin_ns : {0, 1'000, 5'000, 11'000})
      CHECK_EQUAL(lost_with(enough, delay_ns, begin_ns), 0);
    // With a cable, the frames on it do not fit into two frames.
    if (delay_ns == 100'000) CHECK_EQUAL(lost_with(2 * kFrameBytes, delay_ns, 0) > 0, true);
    CHECK_EQUAL(lost_with(0, delay_ns, 0) > 0, true);
  }
}

// Four hosts send to one, by a queue so long that the frames of one stop have not left at the next.
std::int64_t lost_by_a_long_queue(std::int64_t headroom, bool is_shared) {
  constexpr std::int64_t kXoffFrames = 40;
  constexpr int kFrames = 400;
  FabricSettings settings = lossless(1U << 3U, kXoffFrames);
  settings.delay_ns = 5'000;
  settings.qos->xon_bytes = kXoffFrames * 2 / 3 * kFrameBytes;
  settings.qos->headroom_bytes = headroom;
  if (is_shared) settings.qos->shared_bytes = 4 * (kXoffFrames + 1) * kFrameBytes;
  QosBench bench(settings, 5);
  for (std::size_t from = 1; from < 5; ++from)
    bench.send_many(from, kLater, kFrames, tagged(0, from, 3));
  const std::size_t came = data_of(bench.run()).size();
  const std::int64_t dropped = bench.fabric.counters(0).dropped_frames;
  CHECK_EQUAL(static_cast<std::int64_t>(came) + dropped, 4 * kFrames);
  CHECK_EQUAL(bench.fabric.priority_pause_count(1, 3) > 1, true);
  CHECK_EQUAL(bench.fabric.memory().used_bytes(), 0);
  return dropped;
}

TEST(a_long_queue_needs_no_more_headroom) {
  for (const bool is_shared : {false, true}) {
    CHECK_EQUAL(lost_by_a_long_queue(headroom_bytes(5'000), is_shared), 0);
    CHECK_EQUAL(lost_by_a_long_queue(kFrameBytes, is_shared) > 0, true);
  }
}

TEST(what_leaves_gives_the_headroom_back_first) {
  QosSettings qos;
  qos.xoff_bytes = 3'000;
  qos.xon_bytes = 2'000;
  qos.headroom_bytes = 2'000;
  qos.shared_bytes = 10'000;
  SwitchMemory memory;
  memory.set(qos, 0, 0);
  InputShare input;
  for (const Place expected : {Place::kInput, Place::kInput, Place::kInput, Place::kHeadroom})
    CHECK_EQUAL(memory.admit(input, 1'000) == expected, true);
  CHECK_EQUAL(memory.used_bytes(), 3'000);
  memory.release(Place::kInput, &input, 1'000);
  CHECK_EQUAL(input.headroom_bytes, 0);
  CHECK_EQUAL(memory.used_bytes(), 3'000);
  CHECK_EQUAL(memory.may_resume(input), false);
  memory.release(Place::kInput, &input, 1'000);
  CHECK_EQUAL(memory.may_resume(input), true);
  memory.release(Place::kHeadroom, &input, 1'000);
  memory.release(Place::kInput, &input, 1'000);
  CHECK_EQUAL(input.all_bytes(), 0);
  CHECK_EQUAL(memory.used_bytes(), 0);
}

TEST(headroom_that_nobody_chose_is_enough) {
  for (const std::int64_t delay_ns : {0, 1'000'000})
    CHECK_EQUAL(lost_with(kUnset, delay_ns, 3'000), 0);
}

}  // namespace
}  // namespace fabriscope::lab
