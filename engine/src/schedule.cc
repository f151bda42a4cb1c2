#include "schedule.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "random.h"

namespace fabriscope {
namespace {

// A clock read may take this share of a sample.
constexpr double kMaxClockShare = 0.05;
// An operation that looks shorter than this many records is probed again in a batch: the first
// probe's clock reads hide its true length.
constexpr double kBatchProbeRecords = 100.0;
constexpr std::int64_t kProbeSamples = 3;
constexpr std::int64_t kProbeBatch = 64;
// The share of a burst that is warm-up: enough for TCP to open its window again after the pause.
constexpr std::int64_t kWarmupShare = 10;
// The first operations after a pause are slower than those that follow: over MPI and Gigabit
// Ethernet by a tenth, of small messages the first ten or so by 2 to 4 %. A burst is stretched to
// hold so many, that most of them are steady.
constexpr double kSteadyOperations = 128.0;

}  // namespace

std::vector<std::size_t> round_order(std::uint64_t seed, std::int64_t round,
                                     std::size_t case_count) {
  std::vector<std::size_t> order(case_count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  SplitMix random(SplitMix(seed).next() ^ static_cast<std::uint64_t>(round));
  for (std::size_t left = case_count; left > 1; --left) {
    std::swap(order[left - 1], order[random.below(left)]);
  }
  return order;
}

BurstPlan BurstPlanner::next() const {
  if (limits_.single) return stage_ == Stage::kFirstProbe ? BurstPlan{1, 0, 1} : BurstPlan{0, 1, 1};
  if (stage_ == Stage::kFirstProbe) return {2, 0, 1};
  if (stage_ == Stage::kBatchProbe) return {kProbeSamples, 0, kProbeBatch};
  const double operation_ns = std::max(mean_operation_ns_, 0.01);
  const double stretched = static_cast<double>(limits_.stretched_ns) / operation_ns;
  const double wanted = std::max(static_cast<double>(limits_.burst_ns) / operation_ns,
                                 std::min(kSteadyOperations, stretched));
  const auto most = static_cast<double>(limits_.max_operations);
  const auto operations = static_cast<std::int64_t>(std::min(wanted, most));
  const std::int64_t samples = std::clamp<std::int64_t>(
      operations / operations_per_sample_, 2, std::max<std::int64_t>(limits_.max_samples, 2));
  const std::int64_t warmup = std::max<std::int64_t>(samples / kWarmupShare, 1);
  return {warmup, samples - warmup, operations_per_sample_};
}

void BurstPlanner::learn(const BurstPlan& plan, const std::int64_t* durations_ns) {
  std::vector<std::int64_t> sorted(durations_ns, durations_ns + plan.sample_count());
  const auto per_sample = static_cast<double>(plan.operations_per_sample);
  if (stage_ == Stage::kFirstProbe) {
    // The second operation: the first one met everything cold.
    mean_operation_ns_ = static_cast<double>(sorted.back());
    const bool short_operation =
        limits_.batches && mean_operation_ns_ < kBatchProbeRecords * limits_.record_cost_ns;
    stage_ = short_operation ? Stage::kBatchProbe : Stage::kMeasure;
    return;
  }
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const double median_ns = static_cast<double>(*middle) / per_sample;
  if (stage_ == Stage::kBatchProbe) {
    mean_operation_ns_ = median_ns;
    stage_ = Stage::kMeasure;
  } else {
    // The mean, for it is what a burst's length is made of; halved with the old one, so that one
    // retransmission does not shrink the next burst to nothing.
    const double mean_ns = total / (per_sample * static_cast<double>(sorted.size()));
    mean_operation_ns_ = (mean_operation_ns_ + mean_ns) / 2;
  }
  raise_batch(median_ns);
}

// Only ever up, and in powers of two: samples of one case should differ in their batch size as
// seldom as can be.
void BurstPlanner::raise_batch(double operation_ns) {
  if (!limits_.batches) return;
  const double least_sample_ns = limits_.record_cost_ns / kMaxClockShare;
  while (static_cast<double>(operations_per_sample_) * operation_ns < least_sample_ns &&
         operations_per_sample_ < (1 << 20)) {
    operations_per_sample_ *= 2;
  }
}

}  // namespace fabriscope
