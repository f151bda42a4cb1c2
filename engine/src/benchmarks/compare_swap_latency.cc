#include "rdma_atomic.h"

FABRISCOPE_REGISTER(benchmark_registry, "compare_swap_latency", [] {
  return std::make_unique<fabriscope::RdmaAtomic>(fabriscope::RdmaAtomic::Kind::kCompareSwap);
})
