// The three dimensions of a grid: x, y, z. Neighbours in x are neighbours in memory.
#pragma once

#include <array>

namespace fabriscope::npb {

constexpr int kAxes = 3;
using Triple = std::array<int, kAxes>;

}  // namespace fabriscope::npb
