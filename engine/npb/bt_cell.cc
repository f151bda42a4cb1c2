#include "bt_cell.h"

namespace fabriscope::npb {
namespace {

// The layers of points nearest to one side; `is_ghost`: those beyond it.
template <typename Do>
void for_each_face_point(const Cell& cell, std::size_t axis, bool is_up, bool is_ghost, Do&& act) {
  const auto [inner, outer] = others(axis);
  const int begin = is_up ? cell.size[axis] - (is_ghost ? 0 : kGhosts) : (is_ghost ? -kGhosts : 0);
  Triple point{};
  for (point[outer] = 0; point[outer] < cell.size[outer]; ++point[outer]) {
    for (point[inner] = 0; point[inner] < cell.size[inner]; ++point[inner]) {
      for (point[axis] = begin; point[axis] < begin + kGhosts; ++point[axis]) {
        act(static_cast<std::size_t>(cell.index(point)));
      }
    }
  }
}

bool has_neighbour(const Cell& cell, std::size_t axis, bool is_up) {
  return is_up ? !cell.is_last(axis) : !cell.is_first(axis);
}

}  // namespace

Cell::Cell(const Triple& place, int cells_per_side, int points)
    : at(place), first{}, size{}, points_per_side(points) {
  std::ptrdiff_t stride = 1;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const Share share = share_of(points, cells_per_side, at[axis]);
    first[axis] = static_cast<int>(share.begin);
    size[axis] = static_cast<int>(share.count);
    strides[axis] = stride;
    stride *= size[axis] + 2 * kGhosts;
  }
  // Beyond the cube's surface nothing is looked at, but a density of nought would be divided by.
  solution.assign(static_cast<std::size_t>(stride), {1.0, 1.0, 1.0, 1.0, 1.0});
  change.resize(solution.size());
  forcing.resize(solution.size());
}

Cells::Cells(const Run& run, int points_per_side) {
  while (per_side_ * per_side_ < run.rank_count()) ++per_side_;
  const int column = run.rank() % per_side_;
  const int row = run.rank() / per_side_;
  for (int z = 0; z < per_side_; ++z) {
    const Triple at{(column + z) % per_side_, (row - z + per_side_) % per_side_, z};
    cells_.emplace_back(at, per_side_, points_per_side);
  }
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    Triple neighbour = cells_.front().at;
    neighbour[axis] = (neighbour[axis] + 1) % per_side_;
    upper_[axis] = rank_of(neighbour);
    neighbour[axis] = (cells_.front().at[axis] - 1 + per_side_) % per_side_;
    lower_[axis] = rank_of(neighbour);
  }
}

int Cells::rank_of(const Triple& at) const {
  const int column = (at[0] - at[2] + per_side_) % per_side_;
  const int row = (at[1] + at[2]) % per_side_;
  return column + per_side_ * row;
}

Cell& Cells::at(std::size_t axis, int place) {
  std::size_t i = 0;
  while (cells_[i].at[axis] != place) ++i;
  return cells_[i];
}

std::vector<double> Cells::pack(std::size_t axis, bool is_up) const {
  std::vector<double> values;
  for (const Cell& cell : cells_) {
    if (!has_neighbour(cell, axis, is_up)) continue;
    for_each_face_point(cell, axis, is_up, false, [&](std::size_t point) {
      values.insert(values.end(), cell.solution[point].begin(), cell.solution[point].end());
    });
  }
  return values;
}

void Cells::unpack(std::size_t axis, bool is_up, const std::vector<double>& values) {
  const double* from = values.data();
  for (Cell& cell : cells_) {
    if (!has_neighbour(cell, axis, is_up)) continue;
    for_each_face_point(cell, axis, is_up, true, [&](std::size_t point) {
      std::copy(from, from + kFields, cell.solution[point].begin());
      from += kFields;
    });
  }
}

void Cells::exchange_faces(const Run& run, Phase& phase) {
  if (per_side_ == 1) return;
  constexpr std::size_t kDirections = 2 * kAxes;
  std::array<std::vector<double>, kDirections> sent, received;
  std::array<MPI_Request, 2 * kDirections> requests{};
  for (std::size_t i = 0; i < kDirections; ++i) {
    const std::size_t axis = i / 2;
    const bool is_up = i % 2 == 1;
    std::size_t count = 0;
    for (const Cell& cell : cells_) {
      if (!has_neighbour(cell, axis, is_up)) continue;
      for_each_face_point(cell, axis, is_up, true, [&](std::size_t) { count += kFields; });
    }
    received[i].resize(count);
    phase.time(0, [&] {
      MPI_Irecv(received[i].data(), static_cast<int>(count), MPI_DOUBLE,
                is_up ? upper_[axis] : lower_[axis], static_cast<int>(i ^ 1U), run.communicator(),
                &requests[i]);
    });
  }
  for (std::size_t i = 0; i < kDirections; ++i) {
    const std::size_t axis = i / 2;
    const bool is_up = i % 2 == 1;
    sent[i] = pack(axis, is_up);
    const auto bytes = static_cast<std::int64_t>(sent[i].size() * sizeof(double));
    phase.time(bytes, [&] {
      MPI_Isend(sent[i].data(), static_cast<int>(sent[i].size()), MPI_DOUBLE,
                is_up ? upper_[axis] : lower_[axis], static_cast<int>(i), run.communicator(),
                &requests[kDirections + i]);
    });
  }
  phase.time(0, [&] {
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  });
  for (std::size_t i = 0; i < kDirections; ++i) unpack(i / 2, i % 2 == 1, received[i]);
}

}  // namespace fabriscope::npb
