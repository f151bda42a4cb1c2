#include "round_plan.h"

#include <algorithm>
#include <cstddef>

namespace fabriscope {
namespace {

constexpr std::int64_t kLeastLeadNs = 50'000;
constexpr std::int64_t kMostLeadNs = 500'000'000;
// Beside the operation itself a slot holds the way back to the wait, and the look at the clock.
constexpr std::int64_t kBetweenNs = 5'000;
// A rank may start so much after the instant, in a quiet run: a twentieth of the operation, for so
// much of a sample it can be at most, and no less than a clock read can slip.
constexpr std::int64_t kToleranceShare = 20;
constexpr std::int64_t kLeastToleranceNs = 1'000;
constexpr std::int64_t kMostToleranceFactor = 1 << 20;

std::int64_t quantile(std::vector<std::int64_t>& values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<std::size_t>(place)];
}

}  // namespace

RoundPlan RoundPlanner::next() const {
  const std::int64_t tolerance_ns = std::max(kLeastToleranceNs, median_ns_ / kToleranceShare);
  return {false, lead_ns_, slot_ns_, tolerance_ns * tolerance_factor_};
}

// A slot that is too short makes every round late, one that is too long only wastes time: so it
// grows at once and shrinks by halves. Where more rounds are late than not (more ranks than cores,
// for one), nothing would be left: so the tolerance doubles, and the output states it.
void RoundPlanner::learn(const std::vector<GroupSample>& samples) {
  const std::int64_t tolerance_ns = next().late_tolerance_ns;
  std::vector<std::int64_t> durations_ns;
  std::size_t late_count = 0;
  for (const GroupSample& sample : samples) {
    durations_ns.push_back(sample.duration_ns);
    if (sample.lateness_ns > tolerance_ns) ++late_count;
  }
  const bool first_is_late = samples.front().lateness_ns > tolerance_ns;
  lead_ns_ = first_is_late ? std::min(lead_ns_ * 2, kMostLeadNs)
                           : std::max(lead_ns_ - lead_ns_ / 8, kLeastLeadNs);
  median_ns_ = quantile(durations_ns, 0.5);
  const std::int64_t wanted_ns = quantile(durations_ns, 0.9) * 3 / 2 + kBetweenNs;
  slot_ns_ = wanted_ns > slot_ns_ ? wanted_ns : (wanted_ns + slot_ns_) / 2;
  if (2 * late_count > samples.size()) {
    tolerance_factor_ = std::min(2 * tolerance_factor_, kMostToleranceFactor);
  } else if (20 * late_count <= samples.size()) {
    tolerance_factor_ = std::max<std::int64_t>(tolerance_factor_ / 2, 1);
  }
}

}  // namespace fabriscope
