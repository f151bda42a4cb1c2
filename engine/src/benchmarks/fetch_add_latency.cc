#include "rdma_atomic.h"

FABRISCOPE_REGISTER(benchmark_registry, "fetch_add_latency", [] {
  return std::make_unique<fabriscope::RdmaAtomic>(fabriscope::RdmaAtomic::Kind::kFetchAdd);
})
