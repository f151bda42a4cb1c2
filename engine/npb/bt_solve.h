// Lines of BT's grid along one axis, each a system of equations whose matrix has three diagonals of
// blocks: eliminated from the first cell to the last, substituted back the other way.
#pragma once

#include <vector>

#include "bt_cell.h"

namespace fabriscope::npb {

// Of each cell along an axis the blocks above the diagonal, by line and point. One axis after the
// other has use of it.
using UpperBlocks = std::vector<std::vector<Block>>;

class LineSolver {
 public:
  LineSolver(Run& run, Cells& cells, UpperBlocks& uppers, std::size_t axis, const char* phase_name,
             double time_step);

  // Replaces the change at each inner point.
  void solve();

 private:
  // What the next cell takes of a line's last point.
  struct Upward {
    Block upper;
    State change;
  };

  void eliminate(Cell& cell, std::vector<Block>& uppers, bool is_first);
  void substitute(Cell& cell, const std::vector<Block>& uppers, bool is_last);
  template <typename Value>
  void send(const std::vector<Value>& values, int to);
  template <typename Value>
  void receive(std::vector<Value>& values, int from);

  Run& run_;
  Cells& cells_;
  std::size_t axis_;
  Phase& phase_;
  double carried_factor_, diffused_factor_;
  UpperBlocks& uppers_;
  std::vector<Upward> upward_sent_, upward_received_;
  std::vector<State> downward_sent_, downward_received_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace fabriscope::npb
