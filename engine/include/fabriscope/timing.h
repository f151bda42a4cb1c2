// How the operations of several ranks become samples.
#pragma once

#include <optional>
#include <string>

namespace fabriscope {

enum class Timing {
  kOrigin,       // rank 0 times its own part, one operation right after the other
  kCommonClock,  // all start at an instant of the common clock; first start to last end
  kBarrier,      // a barrier, then each rank times its own call; mean over the ranks (OSU)
  kBackToBack,   // each rank times its own calls one after the other; mean over the ranks (IMB)
  kPairMean,     // the first rank of each pair times its own part; mean over the pairs
  kPairFront,    // likewise; the time by which the slowest pair so far comes further
};

// As the specification and the output write them: "common_clock".
std::string timing_name(Timing timing);
std::optional<Timing> timing_by_name(const std::string& name);

// Whether every rank has its own starts and ends kept.
constexpr bool is_group_timing(Timing timing) {
  return timing == Timing::kCommonClock || timing == Timing::kBarrier ||
         timing == Timing::kBackToBack;
}
constexpr bool is_pair_timing(Timing timing) {
  return timing == Timing::kPairMean || timing == Timing::kPairFront;
}

}  // namespace fabriscope
