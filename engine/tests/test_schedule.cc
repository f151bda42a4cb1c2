#include <algorithm>
#include <vector>

#include "check.h"
#include "schedule.h"

using namespace fabriscope;

namespace {

constexpr BurstLimits kLimits{1'000'000, 20'000'000, 1000, 500, 10.0};

// Tells the planner that every operation took `operation_ns`; returns what it plans then.
BurstPlan plan_after(BurstPlanner& planner, std::int64_t operation_ns) {
  const BurstPlan plan = planner.next();
  const std::vector<std::int64_t> durations(static_cast<std::size_t>(plan.sample_count()),
                                            operation_ns * plan.operations_per_sample);
  planner.learn(plan, durations.data());
  return planner.next();
}

}  // namespace

TEST(a_round_visits_every_case_once) {
  for (std::int64_t round = 0; round < 50; ++round) {
    std::vector<std::size_t> order = round_order(42, round, 17);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < 17; ++i) CHECK_EQUAL(order[i], i);
  }
  CHECK(round_order(42, 0, 0).empty());
}

TEST(the_order_depends_on_seed_and_round_alone) {
  CHECK(round_order(42, 3, 20) == round_order(42, 3, 20));
  CHECK(round_order(42, 3, 20) != round_order(42, 4, 20));
  CHECK(round_order(42, 3, 20) != round_order(43, 3, 20));
  // Fixed for good: a run of an older version can be told again.
  CHECK((round_order(42, 0, 5) == std::vector<std::size_t>{4, 0, 2, 1, 3}));
}

TEST(every_case_comes_first_about_equally_often) {
  std::vector<int> first(4, 0);
  for (std::int64_t round = 0; round < 4000; ++round) ++first[round_order(7, round, 4)[0]];
  for (const int count : first) CHECK(count > 850 && count < 1150);
}

TEST(a_burst_fits_its_length_and_has_warm_up) {
  BurstPlanner planner(kLimits);
  CHECK(planner.probing());
  CHECK_EQUAL(planner.next().measured_sample_count, 0);
  const BurstPlan plan = plan_after(planner, 5'000);
  CHECK(!planner.probing());
  CHECK_EQUAL(plan.sample_count(), 200);
  CHECK_EQUAL(plan.warmup_sample_count, 20);
  CHECK_EQUAL(plan.operations_per_sample, 1);
}

TEST(a_slow_operation_still_has_one_of_each) {
  BurstPlanner planner(kLimits);
  const BurstPlan plan = plan_after(planner, 200'000'000);
  CHECK_EQUAL(plan.warmup_sample_count, 1);
  CHECK_EQUAL(plan.measured_sample_count, 1);
}

TEST(a_burst_of_slow_operations_is_stretched_as_far_as_it_may_be) {
  BurstPlanner slow(kLimits);
  CHECK_EQUAL(plan_after(slow, 100'000).sample_count(), 128);
  BurstPlanner slower(kLimits);
  CHECK_EQUAL(plan_after(slower, 400'000).sample_count(), 50);
  BurstPlanner slowest(kLimits);
  CHECK_EQUAL(plan_after(slowest, 4'000'000).sample_count(), 5);
  BurstLimits unstretched = kLimits;
  unstretched.stretched_ns = 0;
  BurstPlanner plain(unstretched);
  CHECK_EQUAL(plan_after(plain, 400'000).sample_count(), 2);
}

TEST(a_fast_operation_is_probed_again_and_batched) {
  BurstPlanner planner(kLimits);
  plan_after(planner, 50);
  CHECK(planner.probing());
  const BurstPlan plan = plan_after(planner, 5);
  CHECK(!planner.probing());
  CHECK_EQUAL(plan.operations_per_sample, 64);  // 5 % of 64 x 5 ns are more than 10 ns
  CHECK(plan.operation_count() <= kLimits.max_operations);
}

TEST(the_batch_never_shrinks) {
  BurstPlanner planner(kLimits);
  plan_after(planner, 50);
  plan_after(planner, 5);
  CHECK_EQUAL(plan_after(planner, 5000).operations_per_sample, 64);
  CHECK_EQUAL(plan_after(planner, 2).operations_per_sample, 128);
}

TEST(a_burst_is_cut_to_the_memory) {
  BurstPlanner planner({1'000'000'000, 0, 1'000'000, 500, 10.0});
  CHECK_EQUAL(plan_after(planner, 2000).sample_count(), 500);
}
