#include "ping_pong.h"

FABRISCOPE_REGISTER(benchmark_registry, "ping_pong",
                    [] { return std::make_unique<fabriscope::PingPong>(); })
