// When the operations of a burst on the common clock are due, and which of them were late.
#pragma once

#include <cstdint>
#include <vector>

#include "group_samples.h"

namespace fabriscope {

struct RoundPlan {
  bool refreshes_clock = false;
  std::int64_t lead_ns = 0;  // from the moment when all ranks are ready to the first instant
  std::int64_t slot_ns = 0;  // from one instant to the next
  std::int64_t late_tolerance_ns = 0;
};

// Of one case, from what its bursts so far took.
class RoundPlanner {
 public:
  RoundPlan next() const;
  void learn(const std::vector<GroupSample>& samples);

 private:
  std::int64_t lead_ns_ = 200'000;
  std::int64_t slot_ns_ = 1'000'000;
  std::int64_t tolerance_ns_ = 1'000;
  int late_bursts_ = 0;
  bool has_learned_ = false;
};

}  // namespace fabriscope
