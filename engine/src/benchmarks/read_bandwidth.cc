#include "rdma_read.h"

FABRISCOPE_REGISTER(benchmark_registry, "read_bandwidth",
                    [] { return std::make_unique<fabriscope::RdmaRead>(/*has_window=*/true); })
