#include "rdma_read.h"

FABRISCOPE_REGISTER(benchmark_registry, "read_latency",
                    [] { return std::make_unique<fabriscope::RdmaRead>(/*has_window=*/false); })
