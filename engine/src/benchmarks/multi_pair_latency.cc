// Every pair plays ping-pong at once, as in osu_multi_lat: a sample is the mean over the pairs of
// their round trips.
#include "ping_pong.h"

namespace fabriscope {
namespace {

class MultiPairLatency : public PingPong {
 public:
  Pattern pattern() const override { return Pattern::kPairs; }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "multi_pair_latency",
                    [] { return std::make_unique<fabriscope::MultiPairLatency>(); })
