// What the specification says of IS by class: its sizes, the keys that are looked at, and their
// ranks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernel.h"

namespace fabriscope::npb {

inline constexpr int kIsIterations = 10;
inline constexpr std::size_t kIsTests = 5;

struct IsClass {
  int log_keys;
  int log_max_key;
  int log_buckets;
  std::array<std::int64_t, kIsTests> index;
  std::array<std::int64_t, kIsTests> rank;
};
inline constexpr std::array<IsClass, kClassCount> kIsClasses{{
    {16, 11, 9, {48427, 17148, 23627, 62548, 4431}, {0, 18, 346, 64917, 65463}},
    {20,
     16,
     10,
     {357773, 934767, 875723, 898999, 404505},
     {1249, 11698, 1039987, 1043896, 1048018}},
    {23,
     19,
     10,
     {2112377, 662041, 5336171, 3642833, 4250760},
     {104, 17523, 123928, 8288932, 8388264}},
    {25,
     21,
     10,
     {41869, 812306, 5102857, 18232239, 26860214},
     {33422937, 10244, 59149, 33135281, 99}},
    {27,
     23,
     10,
     {44172927, 72999161, 74326391, 129606274, 21736814},
     {61147, 882988, 266290, 133997595, 133525895}},
    {31,
     27,
     10,
     {1317351170, 995930646, 1157283250, 1503301535, 1453734525},
     {1, 36538729, 1978098519, 2145192618, 2147425337}},
}};
// By how much the rank of a test's key has moved after `iteration`, which has changed two keys.
inline std::int64_t is_rank_shift(ProblemClass problem_class, std::size_t test, int iteration) {
  switch (problem_class) {
    case kClassS:
    case kClassC:
      return test <= 2 ? iteration : -iteration;
    case kClassW:
      return test < 2 ? iteration - 2 : -iteration;
    case kClassA:
      return test <= 2 ? iteration - 1 : -(iteration - 1);
    case kClassB:
      return test == 1 || test == 2 || test == 4 ? iteration : -iteration;
    default:
      return test < 2 ? iteration : -iteration;
  }
}

}  // namespace fabriscope::npb
