// BT's grid, cut into as many cells a side as the square root of the ranks. A rank has one cell of
// each layer, along every axis: so all of them are at work while lines are solved from end to end.
#pragma once

#include <cstddef>
#include <vector>

#include "bt_physics.h"
#include "kernel.h"

namespace fabriscope::npb {

constexpr int kGhosts = 2;  // copies of neighbours' points, at each side

struct Cell {
  Cell(const Triple& at, int cells_per_side, int points_per_side);

  std::ptrdiff_t index(const Triple& point) const {
    std::ptrdiff_t result = 0;
    for (std::size_t axis = 0; axis < kAxes; ++axis) {
      result += (point[axis] + kGhosts) * strides[axis];
    }
    return result;
  }
  // Points on the cube's surface stay as they are: along an axis the others begin and end here.
  int begin(std::size_t axis) const { return is_first(axis) ? 1 : 0; }
  int end(std::size_t axis) const { return size[axis] - (is_last(axis) ? 1 : 0); }
  bool is_first(std::size_t axis) const { return first[axis] == 0; }
  bool is_last(std::size_t axis) const { return first[axis] + size[axis] == points_per_side; }

  Triple at;     // which cell of the grid's
  Triple first;  // point of the grid's
  Triple size;
  int points_per_side;
  std::array<std::ptrdiff_t, kAxes> strides{};
  std::vector<State> solution, change, forcing;  // by index()
};

// The two axes that are not this one.
inline std::array<std::size_t, 2> others(std::size_t axis) {
  return {axis == 0 ? std::size_t{1} : 0, axis == 2 ? std::size_t{1} : 2};
}

// For each line of inner points along an axis: the index of its point 0, and its number.
template <typename Do>
void for_each_line(const Cell& cell, std::size_t axis, Do&& act) {
  const auto [inner, outer] = others(axis);
  Triple point{};
  std::size_t line = 0;
  for (point[outer] = cell.begin(outer); point[outer] < cell.end(outer); ++point[outer]) {
    for (point[inner] = cell.begin(inner); point[inner] < cell.end(inner); ++point[inner]) {
      act(cell.index(point), line++);
    }
  }
}

inline std::size_t line_count(const Cell& cell, std::size_t axis) {
  const auto [inner, outer] = others(axis);
  return static_cast<std::size_t>(cell.end(inner) - cell.begin(inner)) *
         static_cast<std::size_t>(cell.end(outer) - cell.begin(outer));
}

class Cells {
 public:
  Cells(const Run& run, int points_per_side);

  std::vector<Cell>& all() { return cells_; }
  int per_side() const { return per_side_; }
  // The one at this place along an axis.
  Cell& at(std::size_t axis, int place);
  // The ranks that have the neighbours of all of this rank's cells.
  int lower(std::size_t axis) const { return lower_[axis]; }
  int upper(std::size_t axis) const { return upper_[axis]; }
  // Fills the ghosts of the solution.
  void exchange_faces(const Run& run, Phase& phase);

 private:
  int rank_of(const Triple& at) const;
  std::vector<double> pack(std::size_t axis, bool is_up) const;
  void unpack(std::size_t axis, bool is_up, const std::vector<double>& values);

  int per_side_ = 1;
  std::vector<Cell> cells_;  // by their place in z
  std::array<int, kAxes> lower_{}, upper_{};
};

}  // namespace fabriscope::npb
