// Nothing at all: what remains is the cost of recording.
#include "fabriscope/benchmark.h"

namespace fabriscope {
namespace {

class Empty : public Benchmark {
 public:
  bool moves_payload() const override { return false; }

  std::optional<PairTraffic> operation_traffic(std::size_t, std::size_t) const override {
    return PairTraffic{};
  }

  void run(const BenchmarkContext&, BurstTimer& timer) override {
    timer.run([] { asm volatile("" ::: "memory"); });  // or the compiler would drop the loop
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "empty",
                    [] { return std::make_unique<fabriscope::Empty>(); })
