// A window of gets, each into a place of its own.
#include "get.h"
#include "one_way.h"

FABRISCOPE_REGISTER_ONE_SIDED("get_bandwidth", OneWay, kGet, OneWay::Unit::kWindow)
