#include "bandwidth.h"

FABRISCOPE_REGISTER(benchmark_registry, "bandwidth",
                    [] { return std::make_unique<fabriscope::Bandwidth>(); })
