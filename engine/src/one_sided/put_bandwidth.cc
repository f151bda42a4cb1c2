// A window of puts, each to a place of its own.
#include "one_way.h"
#include "put.h"

FABRISCOPE_REGISTER_ONE_SIDED("put_bandwidth", OneWay, kPut, OneWay::Unit::kWindow)
