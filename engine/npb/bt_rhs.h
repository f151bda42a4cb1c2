// The change in a step of time that BT's equations ask for.
#pragma once

#include <vector>

#include "bt_cell.h"

namespace fabriscope::npb {

// To each inner point's `sums` adds what flows to it by these states; those of the ghosts count.
void add_flows(const Cell& cell, const std::vector<State>& states, std::vector<State>& sums);

}  // namespace fabriscope::npb
