#include "mg_level.h"

#include <algorithm>

namespace fabriscope::npb {
namespace {

constexpr int kTag = 0;

// Along an axis of more ranks than points, one rank of each `spacing` has a point: their last.
int spacing(int rank_count, int points) { return std::max(1, rank_count / points); }
bool has_point(int place, int spacing) { return (place + 1) % spacing == 0; }

// A call for a single value would take longer than the value.
double* copy_row(const double* from, std::ptrdiff_t count, double* to) {
  if (count != 1) return std::copy(from, from + count, to);
  *to = *from;
  return to + 1;
}

}  // namespace

RankGrid::RankGrid(int rank_count) : counts{1, 1, 1} {
  for (int axis = kAxes - 1; counts[0] * counts[1] * counts[2] < rank_count;
       axis = (axis + kAxes - 1) % kAxes) {
    counts[static_cast<std::size_t>(axis)] *= 2;
  }
}

Triple RankGrid::place_of(int rank) const {
  return {rank % counts[0], rank / counts[0] % counts[1], rank / counts[0] / counts[1]};
}

int RankGrid::rank_at(const Triple& place) const {
  return place[0] + counts[0] * (place[1] + counts[1] * place[2]);
}

Level::Level(const RankGrid& grid, int rank, int points_per_side, const Level* finer) {
  spread_to_.fill(MPI_PROC_NULL);
  spread_from_.fill(MPI_PROC_NULL);
  const Triple place = grid.place_of(rank);
  bool can_spread = finer != nullptr && finer->has_points_;
  // From the last axis: a rank takes part in spreading along one where it has points by those
  // after.
  for (std::size_t axis = kAxes; axis-- > 0;) {
    const int count = grid.counts[axis];
    const int step = spacing(count, points_per_side);
    const auto moved = [&](int by) {
      Triple there = place;
      there[axis] = (place[axis] + by + count) % count;
      return grid.rank_at(there);
    };
    const bool is_here = has_point(place[axis], step);
    points_[axis] = std::max(1, points_per_side / count);
    lower_[axis] = moved(-step);
    upper_[axis] = moved(step);
    offset_[axis] = 1;
    if (finer != nullptr && finer->points_[axis] == 1) {
      is_spread_ = true;
      offset_[axis] = is_here ? 0 : -1;
      if (can_spread)
        (is_here ? spread_to_ : spread_from_)[axis] = moved(is_here ? step / 2 : -step / 2);
    }
    has_points_ = has_points_ && is_here;
    can_spread = can_spread && is_here;
  }
  solution.resize(value_count());
  residual.resize(value_count());
  const auto width = [&](std::size_t axis) { return static_cast<std::size_t>(points_[axis]) + 2; };
  sent_.resize(std::max({width(0) * width(1), width(1) * width(2), width(0) * width(2)}));
  received_.resize(sent_.size());
}

Level::Box Level::face(int axis, int at) const {
  Box box{};
  for (int other = 0; other < kAxes; ++other) {
    const auto i = static_cast<std::size_t>(other);
    const int ghosts = other < axis ? 1 : 0;
    box.begin[i] = other == axis ? at : -ghosts;
    box.end[i] = other == axis ? at + 1 : points_[i] + ghosts;
  }
  return box;
}

int Level::pack(const std::vector<double>& values, const Box& box) {
  double* to = sent_.data();
  for (int z = box.begin[2]; z < box.end[2]; ++z) {
    for (int y = box.begin[1]; y < box.end[1]; ++y) {
      const double* const row_begin = values.data() + index(box.begin[0], y, z);
      to = copy_row(row_begin, box.end[0] - box.begin[0], to);
    }
  }
  return static_cast<int>(to - sent_.data());
}

void Level::unpack(std::vector<double>& values, const Box& box) const {
  const double* from = received_.data();
  const std::ptrdiff_t width = box.end[0] - box.begin[0];
  for (int z = box.begin[2]; z < box.end[2]; ++z) {
    for (int y = box.begin[1]; y < box.end[1]; ++y) {
      copy_row(from, width, values.data() + index(box.begin[0], y, z));
      from += width;
    }
  }
}

// Where this rank is its own neighbour along an axis.
void Level::wrap(std::vector<double>& values, int axis) const {
  const int end = points_[static_cast<std::size_t>(axis)];
  const Box box = face(axis, 0);
  const std::ptrdiff_t step = axis == 0 ? 1 : axis == 1 ? row() : plane();
  const std::ptrdiff_t length = step * end;  // from a ghost to what it is a copy of
  for (int z = box.begin[2]; z < box.end[2]; ++z) {
    for (int y = box.begin[1]; y < box.end[1]; ++y) {
      double* const first = values.data() + index(box.begin[0], y, z);
      copy_row(first + length - step, box.end[0] - box.begin[0], first - step);
      copy_row(first, box.end[0] - box.begin[0], first + length);
    }
  }
}

void Level::exchange(std::vector<double>& values, const Run& run, Phase& phase) {
  const auto move = [&](const Box& sent, int to, const Box& received, int from) {
    const int count = pack(values, sent);
    phase.time(count * std::int64_t{sizeof(double)}, [&] {
      MPI_Sendrecv(sent_.data(), count, MPI_DOUBLE, to, kTag, received_.data(), count, MPI_DOUBLE,
                   from, kTag, run.communicator(), MPI_STATUS_IGNORE);
    });
    unpack(values, received);
  };
  for (int axis = 0; axis < kAxes; ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    if (upper_[i] == run.rank()) {
      wrap(values, axis);
      continue;
    }
    move(face(axis, points_[i] - 1), upper_[i], face(axis, -1), lower_[i]);
    move(face(axis, 0), lower_[i], face(axis, points_[i]), upper_[i]);
  }
}

void Level::spread(const Run& run, Phase& phase) {
  if (!is_spread_) return;
  const auto count = static_cast<int>(solution.size());
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    const int to = spread_to_[axis];
    const int from = spread_from_[axis];
    if (to == MPI_PROC_NULL && from == MPI_PROC_NULL) continue;
    phase.time(to == MPI_PROC_NULL ? 0 : count * std::int64_t{sizeof(double)}, [&] {
      if (to != MPI_PROC_NULL) {
        MPI_Send(solution.data(), count, MPI_DOUBLE, to, kTag, run.communicator());
      } else {
        MPI_Recv(solution.data(), count, MPI_DOUBLE, from, kTag, run.communicator(),
                 MPI_STATUS_IGNORE);
      }
    });
  }
}

}  // namespace fabriscope::npb
