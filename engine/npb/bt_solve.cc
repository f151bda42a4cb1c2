#include "bt_solve.h"

namespace fabriscope::npb {
namespace {

constexpr int kTag = 16;  // those of the faces are less

// change -= block * other.
void subtract(const Block& block, const State& other, State& change) {
  for (std::size_t i = 0; i < kFields; ++i) {
    for (std::size_t j = 0; j < kFields; ++j) change[i] -= block[i][j] * other[j];
  }
}

// result -= left * right.
void subtract(const Block& left, const Block& right, Block& result) {
  for (std::size_t i = 0; i < kFields; ++i) {
    for (std::size_t k = 0; k < kFields; ++k) {
      for (std::size_t j = 0; j < kFields; ++j) result[i][j] -= left[i][k] * right[k][j];
    }
  }
}

// upper and change are replaced by what the inverse of `diagonal` makes of them. No pivots are
// looked for: the diagonal is large.
void divide(Block& diagonal, Block& upper, State& change) {
  for (std::size_t pivot = 0; pivot < kFields; ++pivot) {
    const double inverse = 1.0 / diagonal[pivot][pivot];
    for (std::size_t j = pivot + 1; j < kFields; ++j) diagonal[pivot][j] *= inverse;
    for (std::size_t j = 0; j < kFields; ++j) upper[pivot][j] *= inverse;
    change[pivot] *= inverse;
    for (std::size_t row = 0; row < kFields; ++row) {
      if (row == pivot) continue;
      const double factor = diagonal[row][pivot];
      for (std::size_t j = pivot + 1; j < kFields; ++j) {
        diagonal[row][j] -= factor * diagonal[pivot][j];
      }
      for (std::size_t j = 0; j < kFields; ++j) upper[row][j] -= factor * upper[pivot][j];
      change[row] -= factor * change[pivot];
    }
  }
}

// The three blocks of a point from the Jacobians of it and of its neighbours.
void make_blocks(const Jacobians& before, const Jacobians& here, const Jacobians& behind,
                 Block& lower, Block& diagonal, Block& upper) {
  for (std::size_t i = 0; i < kFields; ++i) {
    for (std::size_t j = 0; j < kFields; ++j) {
      lower[i][j] = -before.carried[i][j] - before.diffused[i][j];
      diagonal[i][j] = 2.0 * here.diffused[i][j];
      upper[i][j] = behind.carried[i][j] - behind.diffused[i][j];
    }
    diagonal[i][i] += 1.0;
  }
}

}  // namespace

LineSolver::LineSolver(Run& run, Cells& cells, UpperBlocks& uppers, std::size_t axis,
                       const char* phase_name, double time_step)
    : run_(run),
      cells_(cells),
      axis_(axis),
      phase_(run.add_phase(phase_name, "isend")),
      uppers_(uppers) {
  const Spacing spacing(cells.all().front().points_per_side);
  carried_factor_ = time_step * spacing.half;
  diffused_factor_ = time_step * spacing.square;
}

void LineSolver::solve() {
  const int count = cells_.per_side();
  for (int place = 0; place < count; ++place) {
    Cell& cell = cells_.at(axis_, place);
    const bool is_first = place == 0;
    const bool is_last = place == count - 1;
    const std::size_t lines = line_count(cell, axis_);
    std::vector<Block>& uppers = uppers_[static_cast<std::size_t>(place)];
    uppers.resize(lines * static_cast<std::size_t>(cell.size[axis_]));
    upward_received_.resize(lines);
    if (!is_first) receive(upward_received_, cells_.lower(axis_));
    upward_sent_.resize(lines);
    eliminate(cell, uppers, is_first);
    if (!is_last) send(upward_sent_, cells_.upper(axis_));
  }
  for (int place = count - 1; place >= 0; --place) {
    Cell& cell = cells_.at(axis_, place);
    const bool is_last = place == count - 1;
    downward_received_.resize(line_count(cell, axis_));
    if (!is_last) receive(downward_received_, cells_.upper(axis_));
    downward_sent_.resize(downward_received_.size());
    substitute(cell, uppers_[static_cast<std::size_t>(place)], is_last);
    if (place > 0) send(downward_sent_, cells_.lower(axis_));
  }
}

void LineSolver::eliminate(Cell& cell, std::vector<Block>& uppers, bool is_first) {
  const std::ptrdiff_t stride = cell.strides[axis_];
  const int begin = cell.begin(axis_);
  const int end = cell.end(axis_);
  for_each_line(cell, axis_, [&](std::ptrdiff_t start, std::size_t line) {
    const State* const states = cell.solution.data() + start;
    State* const changes = cell.change.data() + start;
    Block* const upper = uppers.data() + line * static_cast<std::size_t>(cell.size[axis_]);
    const auto jacobians = [&](int at) {
      return jacobians_of(states[at * stride], axis_, carried_factor_, diffused_factor_);
    };
    // At the surface nothing changes.
    Upward before = is_first ? Upward{} : upward_received_[line];
    std::array<Jacobians, 3> around{jacobians(begin - 1), jacobians(begin), {}};
    for (int at = begin; at < end; ++at) {
      around[2] = jacobians(at + 1);
      Block lower;
      Block diagonal;
      make_blocks(around[0], around[1], around[2], lower, diagonal, upper[at]);
      subtract(lower, before.change, changes[at * stride]);
      subtract(lower, before.upper, diagonal);
      divide(diagonal, upper[at], changes[at * stride]);
      before = {upper[at], changes[at * stride]};
      around[0] = around[1];
      around[1] = around[2];
    }
    upward_sent_[line] = before;
  });
}

void LineSolver::substitute(Cell& cell, const std::vector<Block>& uppers, bool is_last) {
  const std::ptrdiff_t stride = cell.strides[axis_];
  for_each_line(cell, axis_, [&](std::ptrdiff_t start, std::size_t line) {
    State* const changes = cell.change.data() + start;
    const Block* const upper = uppers.data() + line * static_cast<std::size_t>(cell.size[axis_]);
    State behind = is_last ? State{} : downward_received_[line];
    for (int at = cell.end(axis_) - 1; at >= cell.begin(axis_); --at) {
      subtract(upper[at], behind, changes[at * stride]);
      behind = changes[at * stride];
    }
    downward_sent_[line] = behind;
  });
}

template <typename Value>
void LineSolver::send(const std::vector<Value>& values, int to) {
  const auto bytes = static_cast<std::int64_t>(values.size() * sizeof(Value));
  phase_.time(bytes, [&] {
    MPI_Isend(values.data(), static_cast<int>(values.size() * sizeof(Value) / sizeof(double)),
              MPI_DOUBLE, to, kTag, run_.communicator(), &request_);
  });
}

// And waits for what this rank sent before, as that memory is written to next.
template <typename Value>
void LineSolver::receive(std::vector<Value>& values, int from) {
  const auto count = static_cast<int>(values.size() * sizeof(Value) / sizeof(double));
  phase_.time(0, [&] {
    MPI_Recv(values.data(), count, MPI_DOUBLE, from, kTag, run_.communicator(), MPI_STATUS_IGNORE);
  });
  phase_.time(0, [&] { MPI_Wait(&request_, MPI_STATUS_IGNORE); });
}

}  // namespace fabriscope::npb
