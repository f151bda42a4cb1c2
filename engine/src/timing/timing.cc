#include "fabriscope/timing.h"

#include <array>
#include <utility>

#include "fabriscope/benchmark.h"

namespace fabriscope {
namespace {

constexpr std::array<std::pair<Timing, const char*>, 6> kTimingNames{{
    {Timing::kOrigin, "origin"},
    {Timing::kCommonClock, "common_clock"},
    {Timing::kBarrier, "barrier"},
    {Timing::kBackToBack, "back_to_back"},
    {Timing::kPairMean, "pair_mean"},
    {Timing::kPairFront, "pair_front"},
}};

}  // namespace

std::string timing_name(Timing timing) {
  for (const auto& [known, name] : kTimingNames) {
    if (known == timing) return name;
  }
  return {};
}

std::optional<Timing> timing_by_name(const std::string& name) {
  for (const auto& [timing, known] : kTimingNames) {
    if (known == name) return timing;
  }
  return std::nullopt;
}

std::vector<Timing> Benchmark::timing_kinds() const {
  switch (pattern()) {
    case Pattern::kPair:
    case Pattern::kStar:
    case Pattern::kBeside:
      return {Timing::kOrigin};
    case Pattern::kPairs:
      return {Timing::kPairMean};
    case Pattern::kGroup:
      break;
  }
  return {Timing::kCommonClock, Timing::kBarrier, Timing::kBackToBack};
}

}  // namespace fabriscope
