// One get at a time.
#include "get.h"
#include "one_way.h"

FABRISCOPE_REGISTER_ONE_SIDED("get_latency", OneWay, kGet, OneWay::Unit::kMessage)
