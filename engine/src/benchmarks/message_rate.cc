// Every pair sends a window one way at once, as in osu_mbw_mr: a sample is the time in which all of
// them have finished one window more. The pairs' windows together over that time are the rate.
#include "bandwidth.h"

namespace fabriscope {
namespace {

class MessageRate : public Bandwidth {
 public:
  Pattern pattern() const override { return Pattern::kPairs; }
  std::vector<Timing> timing_kinds() const override { return {Timing::kPairFront}; }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "message_rate",
                    [] { return std::make_unique<fabriscope::MessageRate>(); })
