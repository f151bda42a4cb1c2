#include "mg_stencils.h"

#include <cstddef>

namespace fabriscope::npb {
namespace {

// A's weights by distance; that of the 6 nearest is nought.
constexpr double kCentre = -8.0 / 3.0;
constexpr double kEdges = 1.0 / 6.0;
constexpr double kCorners = 1.0 / 12.0;

// For each x of a row, ghosts too, the four nearest rows' values there, and the four next ones'.
struct RowSums {
  explicit RowSums(const Level& level)
      : count(level.row()),
        nearest(static_cast<std::size_t>(count)),
        next(static_cast<std::size_t>(count)) {}

  // `row` begins at a ghost.
  void add_up(const double* row, const Level& level) {
    const std::ptrdiff_t y = level.row();
    const std::ptrdiff_t z = level.plane();
    double* const __restrict sides = nearest.data();
    double* const __restrict corners = next.data();
    for (std::ptrdiff_t x = 0; x < count; ++x) {
      sides[x] = row[x - y] + row[x + y] + row[x - z] + row[x + z];
      corners[x] = row[x - y - z] + row[x + y - z] + row[x - y + z] + row[x + y + z];
    }
  }

  std::ptrdiff_t count;
  std::vector<double> nearest, next;
};

template <typename Do>
void for_each_row(const Level& level, Do&& act) {
  for (int z = 0; z < level.points()[2]; ++z) {
    for (int y = 0; y < level.points()[1]; ++y) act(level.index(-1, y, z));
  }
}

// One or two places of the coarser level's axis that a fine one is at or between.
struct Between {
  Between(int fine, int offset) {
    const int doubled = fine - offset;
    const bool is_between = doubled % 2 != 0;
    first = (is_between ? doubled - 1 : doubled) / 2;
    count = is_between ? 2 : 1;
  }
  int first, count;
};

// The mean of up to four rows of the coarser level.
void average_rows(const Level& coarser, const Between& y, const Between& z,
                  std::vector<double>& means) {
  const double* const row = coarser.solution.data() + coarser.index(-1, y.first, z.first);
  const std::ptrdiff_t up = y.count == 2 ? coarser.row() : 0;
  const std::ptrdiff_t over = z.count == 2 ? coarser.plane() : 0;
  double* const __restrict mean = means.data();
  const std::ptrdiff_t count = coarser.row();
  if (up == 0 && over == 0) {
    for (std::ptrdiff_t x = 0; x < count; ++x) mean[x] = row[x];
  } else if (up == 0 || over == 0) {
    for (std::ptrdiff_t x = 0; x < count; ++x) mean[x] = 0.5 * (row[x] + row[x + up + over]);
  } else {
    for (std::ptrdiff_t x = 0; x < count; ++x) {
      mean[x] = 0.25 * (row[x] + row[x + up] + row[x + over] + row[x + up + over]);
    }
  }
}

// `means` and `row` begin at ghosts.
void add_row(const std::vector<double>& means, int offset, int points, double* row) {
  const double* const mean = means.data();
  std::ptrdiff_t x = 0;
  std::ptrdiff_t from = Between(-1, offset).first + 1;
  if (Between(-1, offset).count == 2) {
    row[x++] += 0.5 * (mean[from] + mean[from + 1]);
    ++from;
  }
  for (; x + 1 < points + 2; x += 2, ++from) {
    row[x] += mean[from];
    row[x + 1] += 0.5 * (mean[from] + mean[from + 1]);
  }
  if (x < points + 2) row[x] += mean[from];
}

}  // namespace

void subtract_product(const Level& level, const std::vector<double>& right_side,
                      const std::vector<double>& solution, std::vector<double>& residual) {
  RowSums sums(level);
  for_each_row(level, [&](std::ptrdiff_t begin) {
    const double* const u = solution.data() + begin;
    const double* const right = right_side.data() + begin;
    double* const result = residual.data() + begin;
    const double* const near = sums.nearest.data();
    const double* const next = sums.next.data();
    sums.add_up(u, level);
    for (std::ptrdiff_t x = 1; x + 1 < sums.count; ++x) {
      result[x] = right[x] - kCentre * u[x] - kEdges * (next[x] + near[x - 1] + near[x + 1]) -
                  kCorners * (next[x - 1] + next[x + 1]);
    }
  });
}

void smooth(const Level& level, const SmootherWeights& weights, const std::vector<double>& residual,
            std::vector<double>& solution) {
  RowSums sums(level);
  for_each_row(level, [&](std::ptrdiff_t begin) {
    const double* const r = residual.data() + begin;
    double* const __restrict u = solution.data() + begin;
    const double* const near = sums.nearest.data();
    const double* const next = sums.next.data();
    sums.add_up(r, level);
    for (std::ptrdiff_t x = 1; x + 1 < sums.count; ++x) {
      u[x] += weights.centre * r[x] + weights.faces * (r[x - 1] + r[x + 1] + near[x]) +
              weights.edges * (next[x] + near[x - 1] + near[x + 1]);
    }
  });
}

void restrict_residual(const Level& finer, Level& coarser) {
  RowSums sums(finer);
  const Triple& offset = coarser.offset();
  for (int z = 0; z < coarser.points()[2]; ++z) {
    for (int y = 0; y < coarser.points()[1]; ++y) {
      const double* const row =
          finer.residual.data() + finer.index(-1, 2 * y + offset[1], 2 * z + offset[2]);
      sums.add_up(row, finer);
      double* const result = coarser.residual.data() + coarser.index(0, y, z);
      for (int x = 0; x < coarser.points()[0]; ++x) {
        const std::ptrdiff_t i = 2 * x + offset[0] + 1;
        const double* const near = sums.nearest.data() + i;
        const double* const next = sums.next.data() + i;
        result[x] = 0.5 * row[i] + 0.25 * (row[i - 1] + row[i + 1] + near[0]) +
                    0.125 * (near[-1] + near[1] + next[0]) + 0.0625 * (next[-1] + next[1]);
      }
    }
  }
}

void add_interpolated(const Level& coarser, Level& finer) {
  std::vector<double> means(static_cast<std::size_t>(coarser.row()));
  const Triple& offset = coarser.offset();
  const Triple& points = finer.points();
  for (int z = -1; z <= points[2]; ++z) {
    for (int y = -1; y <= points[1]; ++y) {
      average_rows(coarser, Between(y, offset[1]), Between(z, offset[2]), means);
      add_row(means, offset[0], points[0], finer.solution.data() + finer.index(-1, y, z));
    }
  }
}

double sum_of_squares(const Level& level, const std::vector<double>& values) {
  double sum = 0.0;
  for_each_row(level, [&](std::ptrdiff_t begin) {
    const double* const row = values.data() + begin;
    for (std::ptrdiff_t x = 1; x + 1 < level.row(); ++x) sum += row[x] * row[x];
  });
  return sum;
}

}  // namespace fabriscope::npb
