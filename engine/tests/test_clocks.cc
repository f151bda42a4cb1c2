// The common clock: what it makes of clocks that differ, and whether its bound holds.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <mutex>

#include "check.h"
#include "fabriscope/clock.h"
#include "helpers.h"
#include "random.h"
#include "timing/clock_model.h"
#include "timing/common_clock.h"
#include "timing/round_plan.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr double kRateError = 200e-6;
constexpr std::int64_t kMillisecond = 1'000'000;

// A clock that shows `offset` more than the true time and runs away from it.
struct CrookedClock {
  std::int64_t offset_ns = 0;
  double drift = 0.0;

  std::int64_t ticks_at(std::int64_t true_ns) const {
    return true_ns + offset_ns + std::llround(drift * static_cast<double>(true_ns));
  }
};

// Compared with the true time every `step_ns`, each time wrong by up to the error that it states.
ClockModel compared(const CrookedClock& clock, std::int64_t step_ns, int count, SplitMix& random) {
  ClockModel model(1.0, kRateError);
  for (int i = 0; i < count; ++i) {
    const std::int64_t true_ns = i * step_ns;
    const auto error_ns = static_cast<std::int64_t>(500 + random.below(20'000));
    const auto wrong_ns = static_cast<std::int64_t>(random.below(2 * error_ns + 1)) - error_ns;
    model.add({clock.ticks_at(true_ns), true_ns + wrong_ns, error_ns});
  }
  return model;
}

std::int64_t wrong_by(const ClockModel& model, const CrookedClock& clock, std::int64_t true_ns) {
  return std::abs(model.common_ns(clock.ticks_at(true_ns)) - true_ns);
}

}  // namespace

TEST(offset_and_drift_are_recovered_within_the_stated_error) {
  SplitMix random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const double drift = (static_cast<double>(random.below(300)) - 150) * 1e-6;
    const CrookedClock clock{static_cast<std::int64_t>(random.below(1ULL << 50)), drift};
    const int count = 1 + static_cast<int>(random.below(80));
    const std::int64_t end_ns = count * 50 * kMillisecond;
    const ClockModel model = compared(clock, 50 * kMillisecond, count, random);
    for (std::int64_t true_ns = -end_ns; true_ns < 2 * end_ns; true_ns += end_ns / 37) {
      const std::int64_t error_ns = model.error_ns(clock.ticks_at(true_ns));
      CHECK(wrong_by(model, clock, true_ns) <= error_ns);
    }
    if (count < 20) continue;
    // Many comparisons tell more than any one of them, and the drift to within a few in a million.
    CHECK(model.error_ns(clock.ticks_at(end_ns / 2)) < 10'000);
    CHECK(std::abs(model.ns_per_tick() * (1 + drift) - 1) < 2e-5);
  }
}

TEST(a_clock_that_is_read_by_two_is_one) {
  SplitMix random(2);
  const CrookedClock clock{123'456'789'012, 40e-6};
  const ClockModel model = compared(clock, 10 * kMillisecond, 20, random);
  const ClockModel other = ClockModel::unpacked(model.packed());
  for (std::int64_t true_ns = 0; true_ns < 1000 * kMillisecond; true_ns += 7 * kMillisecond) {
    const std::int64_t ticks = clock.ticks_at(true_ns);
    CHECK_EQUAL(other.common_ns(ticks), model.common_ns(ticks));
    CHECK_EQUAL(other.error_ns(ticks), model.error_ns(ticks));
    CHECK(std::abs(model.ticks_at(model.common_ns(ticks)) - ticks) <= 1);
  }
}

TEST(a_clock_that_jumps_is_compared_anew) {
  ClockModel model(1.0, kRateError);
  for (int i = 0; i < 40; ++i) model.add({i * kMillisecond, i * kMillisecond + 300, 1000});
  CHECK(model.error_ns(40 * kMillisecond) < 3000);
  const std::int64_t jump_ns = 5 * kMillisecond;
  model.add({50 * kMillisecond, 50 * kMillisecond + jump_ns, 1000});
  CHECK(std::abs(model.common_ns(50 * kMillisecond) - 50 * kMillisecond - jump_ns) <= 1000);
  CHECK(model.point_count() < 3);
  // Known no longer than from the jump on, and said so.
  CHECK(model.error_ns(60 * kMillisecond) > 1000);
}

// Six ranks whose clocks differ by seconds and drift apart; two of them read one clock.
TEST(ranks_agree_on_the_time_over_a_transport) {
  const auto kind = rendezvous_registry().create("threads");
  Settings settings;
  settings.rendezvous = "threads";
  settings.rank_count = 6;
  std::atomic<int> checked{0};
  const auto clock_of = [](int rank) {
    const int owner = rank == 4 ? 3 : rank;
    return CrookedClock{owner * 7'000'000'001LL - 9'000'000'000, (owner - 2) * 30e-6};
  };
  const std::int64_t epoch_ns = SteadyClock::now();
  kind->run(settings, [&](Rendezvous& rendezvous) {
    const int rank = rendezvous.rank();
    const CrookedClock own = clock_of(rank);
    const CrookedClock reference = clock_of(0);
    ClockSource source;
    source.now_ticks = [own, epoch_ns] { return own.ticks_at(SteadyClock::now() - epoch_ns); };
    source.reading_error_ns = 100;
    source.domain = std::to_string(rank == 4 ? 3 : rank);
    const auto transport = transport_registry().create("shm", settings);
    CommonClock common(rendezvous, source,
                       [&](int peer) { return transport->open(rendezvous, peer, {}); });
    CHECK(common.compares());
    for (int i = 0; i < 20; ++i) {
      const std::int64_t true_ns = SteadyClock::now() - epoch_ns + i * kMillisecond;
      const std::int64_t ticks = own.ticks_at(true_ns);
      const std::int64_t wrong_ns = std::abs(common.common_ns(ticks) - reference.ticks_at(true_ns));
      // A bound that holds and says something: the clocks differ by seconds.
      CHECK(wrong_ns <= common.error_ns(ticks));
      CHECK(common.error_ns(ticks) < 1'000 * kMillisecond);
      if (i % 5 == 0) common.refresh();
      ++checked;
    }
    return 0;
  });
  CHECK_EQUAL(checked.load(), 120);
}

namespace {

std::vector<GroupSample> rounds_of(std::int64_t duration_ns, std::int64_t lateness_ns) {
  return std::vector<GroupSample>(20, GroupSample{duration_ns, 0, 0, lateness_ns});
}

}  // namespace

TEST(a_slot_holds_the_operation) {
  RoundPlanner planner;
  for (const std::int64_t duration_ns : {20'000, 3'000'000, 100'000}) {
    for (int burst = 0; burst < 12; ++burst) planner.learn(rounds_of(duration_ns, 100));
    CHECK(planner.next().slot_ns > duration_ns);
    CHECK(planner.next().slot_ns < 2 * duration_ns + 10'000);
    CHECK(planner.next().late_tolerance_ns <= std::max<std::int64_t>(duration_ns / 20, 1000));
  }
}

TEST(the_tolerance_grows_where_nothing_else_would_be_left) {
  RoundPlanner crowded;
  crowded.learn(rounds_of(50'000, 400'000));
  CHECK_EQUAL(crowded.next().late_tolerance_ns, 500'000);
  for (int burst = 0; burst < 20; ++burst) crowded.learn(rounds_of(50'000, 100));
  CHECK_EQUAL(crowded.next().late_tolerance_ns, 2'500);
  // One such burst is bad luck.
  crowded.learn(rounds_of(50'000, 400'000));
  CHECK_EQUAL(crowded.next().late_tolerance_ns, 2'500);
  crowded.learn(rounds_of(50'000, 400'000));
  CHECK_EQUAL(crowded.next().late_tolerance_ns, 500'000);
}

TEST(a_late_round_is_dropped_and_counted) {
  std::vector<RankTimes> ranks(2);
  ranks[0].starts_ns = {1000, 2000, 3000};
  ranks[0].durations_ns = {100, 100, 100};
  ranks[1].starts_ns = {1010, 2500, 2990};
  ranks[1].durations_ns = {50, 10, 200};
  ranks[0].clock_error_ns = 30;
  ranks[1].clock_error_ns = 400;
  GroupBurst group;
  group.timing = Timing::kCommonClock;
  group.burst.plan = {0, 3, 1};
  group.late_tolerance_ns = 20;
  group.ranks = ranks;
  group.samples = combine(group.timing, ranks, {1000, 1000});
  const std::vector<JsonObject> lines = lines_of("a", group);
  CHECK_EQUAL(lines.size(), 3U);
  CHECK_CONTAINS(lines[0].text(),
                 R"("clock_error_ns":430,"late_tolerance_ns":20,"late_operation_count":1,)"
                 R"("slowest_ranks":[0,1],"durations_ns":[100,200]})");
  CHECK_CONTAINS(lines[2].text(), R"("rank":1,"start_offsets_ns":[10,0],"durations_ns":[50,200]})");
}

TEST(the_front_is_where_the_last_pair_is) {
  std::vector<RankTimes> ranks(4);
  ranks[0].durations_ns = {10, 10, 10};
  ranks[1].durations_ns = {5, 30, 1};
  const std::vector<GroupSample> samples = combine(Timing::kPairFront, ranks, {});
  CHECK_EQUAL(samples[0].duration_ns, 10);
  CHECK_EQUAL(samples[1].duration_ns, 25);
  CHECK_EQUAL(samples[2].duration_ns, 1);
  CHECK_EQUAL(samples[1].slowest_rank, 1);
}
