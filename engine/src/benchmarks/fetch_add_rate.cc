#include "rdma_atomic.h"

FABRISCOPE_REGISTER(benchmark_registry, "fetch_add_rate", [] {
  return std::make_unique<fabriscope::RdmaAtomic>(fabriscope::RdmaAtomic::Kind::kFetchAddWindow);
})
