#include <atomic>
#include <vector>

#include "check.h"
#include "fabriscope/burst_timer.h"
#include "sample_store.h"

using namespace fabriscope;

TEST(every_operation_is_run_and_recorded) {
  for (const ClockKind kind : {ClockKind::kSteady, ClockKind::kTsc}) {
    for (const std::int64_t batch : {1, 8}) {
      std::vector<std::int64_t> durations(50, -1);
      std::atomic<std::int64_t> progress{0};
      std::int64_t runs = 0;
      BurstTimer timer(kind, durations.data(), 50, batch, progress);
      timer.run([&runs] { ++runs; });
      CHECK_EQUAL(runs, 50 * batch);
      CHECK_EQUAL(progress.load(), 50);
      for (const std::int64_t duration : durations) CHECK(duration >= 0);
    }
  }
}

TEST(an_answering_rank_runs_as_many_operations) {
  std::atomic<std::int64_t> progress{5};
  std::int64_t runs = 0;
  BurstTimer timer(ClockKind::kSteady, nullptr, 50, 8, progress);
  timer.run([&runs] { ++runs; });
  CHECK_EQUAL(runs, 400);
  CHECK(progress.load() > 5);
}

TEST(the_store_keeps_to_its_bound) {
  SampleStore store(4096);
  CHECK(store.sample_capacity() * 8 <= 4096);
  Burst burst;
  burst.plan = {1, store.sample_capacity() - 1, 1};
  CHECK(store.has_room(burst.plan.sample_count()));
  store.commit(burst);
  CHECK(!store.has_room(1));
  CHECK(store.peak_bytes() <= 4096);
  store.clear();
  CHECK(store.has_room(store.sample_capacity()));
}

TEST(many_small_bursts_keep_to_the_bound_too) {
  SampleStore store(4096);
  Burst burst;
  burst.plan = {1, 1, 1};
  int count = 0;
  for (; store.has_room(2); ++count) store.commit(burst);
  CHECK(count > 0);
  CHECK(store.peak_bytes() <= 4096);
}

TEST(the_clock_states_its_cost) {
  const Clock clock = Clock::calibrate(ClockChoice::kAutomatic);
  CHECK(clock.cost_ns() > 0);
  CHECK(clock.record_cost_ns() > 0);
  CHECK(clock.resolution_ns() > 0);
  const std::int64_t before = clock.elapsed_ns();
  CHECK(clock.elapsed_ns() >= before);
  CHECK_EQUAL(Clock::calibrate(ClockChoice::kSteady).to_ns(123), 123);
}
