// One level of MG's multigrid: which points this rank has of it, and how they reach its neighbours.
// Coarse point j is fine point 2 j + 1, and stays at the rank that has that one. So a level of
// fewer points a side than ranks leaves some of the ranks without any.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "axes.h"
#include "kernel.h"

namespace fabriscope::npb {

// The ranks as a grid of powers of two, z in most parts.
struct RankGrid {
  explicit RankGrid(int rank_count);
  Triple place_of(int rank) const;
  int rank_at(const Triple& place) const;

  Triple counts;
};

// Values at this rank's points and at one beyond in each direction: ghosts, copies of a
// neighbour's.
class Level {
 public:
  // `finer`: the next finer level, or null.
  Level(const RankGrid& grid, int rank, int points_per_side, const Level* finer);

  bool has_points() const { return has_points_; }
  const Triple& points() const { return points_; }
  // Where its first point is in the next finer level, by axis: 1; or, with one fine point, 0 at a
  // rank that has the same point of both, and -1 at one that has it of the finer alone.
  const Triple& offset() const { return offset_; }
  std::ptrdiff_t row() const { return points_[0] + 2; }
  std::ptrdiff_t plane() const { return row() * (points_[1] + 2); }
  std::size_t value_count() const {
    return static_cast<std::size_t>(plane()) * static_cast<std::size_t>(points_[2] + 2);
  }
  // Ghosts are at -1 and behind the last.
  std::ptrdiff_t index(int x, int y, int z) const {
    return (z + 1) * plane() + (y + 1) * row() + x + 1;
  }

  // Fills all ghosts of one of the two. All ranks that have points do so.
  void exchange(std::vector<double>& values, const Run& run, Phase& phase);
  // Gives the solution to the ranks that have points of the finer level alone, as those need it.
  void spread(const Run& run, Phase& phase);

  std::vector<double> solution, residual;

 private:
  // From `begin` to before `end`.
  struct Box {
    Triple begin, end;
  };
  // The points at one place of an axis; with ghosts of the axes before it.
  Box face(int axis, int at) const;
  void wrap(std::vector<double>& values, int axis) const;
  int pack(const std::vector<double>& values, const Box& box);
  void unpack(std::vector<double>& values, const Box& box) const;

  Triple points_{}, offset_{};
  bool has_points_ = true;
  bool is_spread_ = false;
  std::array<int, kAxes> lower_{}, upper_{};        // ranks
  std::array<int, kAxes> spread_to_, spread_from_;  // likewise, or none
  std::vector<double> sent_, received_;
};

}  // namespace fabriscope::npb
