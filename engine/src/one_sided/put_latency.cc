// One put at a time.
#include "one_way.h"
#include "put.h"

FABRISCOPE_REGISTER_ONE_SIDED("put_latency", OneWay, kPut, OneWay::Unit::kMessage)
