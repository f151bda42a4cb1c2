#include "round_plan.h"

#include <algorithm>
#include <cstddef>

namespace fabriscope {
namespace {

constexpr std::int64_t kLeastLeadNs = 50'000;
constexpr std::int64_t kMostLeadNs = 500'000'000;
// Beside the operation itself a slot holds the way back to the wait, and the look at the clock.
constexpr std::int64_t kBetweenNs = 5'000;
// A rank may start this long after the instant, in a quiet run: a twentieth of the operation, for
// so much of a sample it can be at most, and no less than a clock read can slip.
constexpr std::int64_t kToleranceShare = 20;
constexpr std::int64_t kLeastToleranceNs = 1'000;
constexpr int kLateBursts = 2;  // one after the other, before the tolerance grows

// Of few values rather a smaller one: what made the larger ones large may have had nothing to do
// with the operation.
std::int64_t quantile(std::vector<std::int64_t>& values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

RoundPlan RoundPlanner::next() const { return {false, lead_ns_, slot_ns_, tolerance_ns_}; }

// The slot follows at once both ways: in a slot that a bad moment made long, the next burst has too
// few operations to tell that it has passed. A rank that loses its core makes most of a burst late;
// that is dropped and goes by. Where it goes on (more ranks than cores, for one) next to nothing
// would be left: so the tolerance grows to what would have kept half of the rounds, and the output
// states it; it comes down again when few are late.
void RoundPlanner::learn(const std::vector<GroupSample>& samples) {
  std::vector<std::int64_t> durations_ns;
  std::vector<std::int64_t> lateness_ns;
  std::size_t late_count = 0;
  for (const GroupSample& sample : samples) {
    durations_ns.push_back(sample.duration_ns);
    lateness_ns.push_back(sample.lateness_ns);
    if (sample.lateness_ns > tolerance_ns_) ++late_count;
  }
  lead_ns_ = samples.front().lateness_ns > tolerance_ns_
                 ? std::min(lead_ns_ * 2, kMostLeadNs)
                 : std::max(lead_ns_ - lead_ns_ / 8, kLeastLeadNs);
  slot_ns_ = quantile(durations_ns, 0.75) * 3 / 2 + kBetweenNs;
  const std::int64_t least_ns =
      std::max(kLeastToleranceNs, quantile(durations_ns, 0.5) / kToleranceShare);
  late_bursts_ = 2 * late_count > samples.size() ? late_bursts_ + 1 : 0;
  if (late_bursts_ >= kLateBursts || (late_bursts_ > 0 && !has_learned_)) {
    tolerance_ns_ = std::max(tolerance_ns_, quantile(lateness_ns, 0.5) * 5 / 4);
  } else if (10 * late_count <= samples.size()) {
    tolerance_ns_ /= 4;
  }
  tolerance_ns_ = std::max(tolerance_ns_, least_ns);
  has_learned_ = true;
}

}  // namespace fabriscope
