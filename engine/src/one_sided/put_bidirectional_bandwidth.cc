// A window of puts each way at once.
#include "both_ways.h"
#include "put.h"

FABRISCOPE_REGISTER_ONE_SIDED("put_bidirectional_bandwidth", BothWays, kPut)
