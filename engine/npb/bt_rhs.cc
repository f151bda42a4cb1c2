#include "bt_rhs.h"

namespace fabriscope::npb {
namespace {

constexpr int kReach = 2;
using Weights = std::array<double, 2 * kReach + 1>;

// The fourth difference; next to the surface what would lie beyond is left out.
Weights fourth_difference(int point, int points_per_side) {
  Weights weights{1.0, -4.0, 6.0, -4.0, 1.0};
  if (point == 1) weights = {0.0, 0.0, 5.0, -4.0, 1.0};
  if (point == 2) weights = {0.0, -4.0, 6.0, -4.0, 1.0};
  if (point == points_per_side - 3) weights = {1.0, -4.0, 6.0, -4.0, 0.0};
  if (point == points_per_side - 2) weights = {1.0, -4.0, 5.0, 0.0, 0.0};
  return weights;
}

}  // namespace

void add_flows(const Cell& cell, const std::vector<State>& states, std::vector<State>& sums) {
  const Spacing spacing(cell.points_per_side);
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const std::ptrdiff_t stride = cell.strides[axis];
    const int begin = cell.begin(axis);
    const int end = cell.end(axis);
    std::vector<Flux> fluxes(static_cast<std::size_t>(end - begin + 2));
    for_each_line(cell, axis, [&](std::ptrdiff_t start, std::size_t) {
      const State* const line = states.data() + start;
      for (std::size_t i = 0; i < fluxes.size(); ++i) {
        const auto at = begin - 1 + static_cast<std::ptrdiff_t>(i);
        fluxes[i] = flux_of(line[at * stride], axis, spacing);
      }
      for (int at = begin; at < end; ++at) {
        const Flux* const here = &fluxes[static_cast<std::size_t>(at - begin + 1)];
        const Weights weights = fourth_difference(cell.first[axis] + at, cell.points_per_side);
        State& sum = sums[static_cast<std::size_t>(start + at * stride)];
        for (std::size_t m = 0; m < kFields; ++m) {
          double dissipated = 0.0;
          for (int i = -kReach; i <= kReach; ++i) {
            dissipated +=
                weights[static_cast<std::size_t>(i + kReach)] * line[(at + i) * stride][m];
          }
          sum[m] += here[1].diffused[m] - 2.0 * here[0].diffused[m] + here[-1].diffused[m] -
                    spacing.half * (here[1].carried[m] - here[-1].carried[m]) -
                    kDissipation * dissipated;
        }
      }
    });
  }
}

}  // namespace fabriscope::npb
