#include "mg_stencils.h"

#include <array>
#include <cstddef>
#include <utility>

namespace fabriscope::npb {
namespace {

// A's weights by distance; that of the 6 nearest is nought.
constexpr double kCentre = -8.0 / 3.0;
constexpr double kEdges = 1.0 / 6.0;
constexpr double kCorners = 1.0 / 12.0;

// Values between two rows of the scratch memory, so that places that are read and written at once
// do not have the same last twelve bits of their addresses: the processor takes those for one.
constexpr std::ptrdiff_t kGap = 50;

// For each x of a row, ghosts too, what an operator makes of the row and its eight neighbours:
// `here` counts at x itself, `beside` at the points before and behind it. A row's sum of the
// planes below and above is kept for the two rows that follow.
template <typename Operator>
class Rows {
 public:
  Rows(const Operator& applied, const Level& level, const std::vector<double>& values)
      : operator_(applied),
        level_(level),
        values_(values.data()),
        count_(level.row()),
        scratch_(static_cast<std::size_t>(5 * (count_ + kGap))) {
    double* next = scratch_.data();
    for (double** part : {&before_, &at_, &after_, &here_, &beside_}) {
      *part = next;
      next += count_ + kGap;
    }
  }
  // The next row is the first of the plane.
  void begin(int z) {
    row_ = values_ + level_.index(-1, 0, z);
    add_planes(row_ - level_.row(), before_);
    add_planes(row_, at_);
  }
  void next() {
    combine(row_, before_, at_, after_, here_, beside_);
    std::swap(before_, at_);
    std::swap(at_, after_);
    row_ += level_.row();
  }
  const double* here() const { return here_; }
  const double* beside() const { return beside_; }

 private:
  // What does not overlap must be said of parameters, or the compiler uses no vectors.
  void combine(const double* __restrict row, const double* __restrict before,
               const double* __restrict at, double* __restrict after, double* __restrict here,
               double* __restrict beside) const {
    const std::ptrdiff_t y = level_.row();
    const std::ptrdiff_t z = level_.plane();
    const std::ptrdiff_t count = count_;
    const Operator applied = operator_;
    for (std::ptrdiff_t x = 0; x < count; ++x) {
      const double planes = row[x + y - z] + row[x + y + z];
      const double faces = row[x - y] + row[x + y] + at[x];
      const double edges = before[x] + planes;
      after[x] = planes;
      here[x] = applied.here(row[x], faces, edges);
      beside[x] = applied.beside(row[x], faces, edges);
    }
  }
  void add_planes(const double* row, double* sums) const {
    const std::ptrdiff_t z = level_.plane();
    for (std::ptrdiff_t x = 0; x < count_; ++x) sums[x] = row[x - z] + row[x + z];
  }

  const Operator operator_;
  const Level& level_;
  const double* values_;
  const double* row_ = nullptr;
  std::ptrdiff_t count_;
  std::vector<double> scratch_;
  double *before_{}, *at_{}, *after_{}, *here_{}, *beside_{};
};

// Calls `store` with where each row begins, at a ghost, and the operator's values for it.
template <typename Operator, typename Store>
void apply(const Operator& applied, const Level& level, const std::vector<double>& values,
           Store&& store) {
  Rows<Operator> rows(applied, level, values);
  for (int z = 0; z < level.points()[2]; ++z) {
    rows.begin(z);
    for (int y = 0; y < level.points()[1]; ++y) {
      rows.next();
      store(level.index(-1, y, z), rows.here(), rows.beside());
    }
  }
}

// The operator A, and S with its weights. By distance: the point, the nearest, the next ones.
struct Product {
  double here(double point, double, double edges) const { return kCentre * point + kEdges * edges; }
  double beside(double, double faces, double edges) const {
    return kEdges * faces + kCorners * edges;
  }
};
struct Smoother : SmootherWeights {
  double here(double point, double near, double next) const {
    return centre * point + faces * near + edges * next;
  }
  double beside(double point, double near, double) const { return faces * point + edges * near; }
};

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
  const double* const __restrict row =
      coarser.solution.data() + coarser.index(-1, y.first, z.first);
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
void add_row(const std::vector<double>& means, int offset, int points,
             double* const __restrict row) {
  const double* const __restrict mean = means.data();
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
  const std::ptrdiff_t end = level.row() - 1;
  const bool is_in_place = &right_side == &residual;
  apply(Product{}, level, solution,
        [&](std::ptrdiff_t begin, const double* here, const double* beside) {
          double* const __restrict result = residual.data() + begin;
          if (is_in_place) {
            for (std::ptrdiff_t x = 1; x < end; ++x) {
              result[x] -= here[x] + (beside[x - 1] + beside[x + 1]);
            }
            return;
          }
          const double* const __restrict right = right_side.data() + begin;
          for (std::ptrdiff_t x = 1; x < end; ++x) {
            result[x] = right[x] - here[x] - (beside[x - 1] + beside[x + 1]);
          }
        });
}

void smooth(const Level& level, const SmootherWeights& weights, const std::vector<double>& residual,
            std::vector<double>& solution) {
  const std::ptrdiff_t end = level.row() - 1;
  apply(Smoother{weights}, level, residual,
        [&](std::ptrdiff_t begin, const double* here, const double* beside) {
          double* const __restrict u = solution.data() + begin;
          for (std::ptrdiff_t x = 1; x < end; ++x) {
            u[x] += here[x] + (beside[x - 1] + beside[x + 1]);
          }
        });
}

// The weights 1, 2, 1 along each axis, one axis after the other.
void restrict_residual(const Level& finer, Level& coarser) {
  const std::ptrdiff_t count = finer.row();
  const Triple& offset = coarser.offset();
  std::vector<double> scratch(static_cast<std::size_t>(2 * count + kGap));
  double* const __restrict last = scratch.data();  // of the row before the next, along z
  double* const __restrict sums = last + count + kGap;
  const auto sum_along_z = [z = finer.plane()](const double* row, std::ptrdiff_t x) {
    return row[x - z] + 2.0 * row[x] + row[x + z];
  };
  for (int z = 0; z < coarser.points()[2]; ++z) {
    const double* row = finer.residual.data() + finer.index(-1, offset[1], 2 * z + offset[2]);
    for (std::ptrdiff_t x = 0; x < count; ++x) last[x] = sum_along_z(row - count, x);
    for (int y = 0; y < coarser.points()[1]; ++y, row += 2 * count) {
      for (std::ptrdiff_t x = 0; x < count; ++x) {
        const double next = sum_along_z(row + count, x);
        sums[x] = last[x] + 2.0 * sum_along_z(row, x) + next;
        last[x] = next;
      }
      double* const __restrict result = coarser.residual.data() + coarser.index(0, y, z);
      const double* const at = sums + offset[0];
      for (int x = 0; x < coarser.points()[0]; ++x) {
        result[x] = 0.0625 * (at[2 * x] + 2.0 * at[2 * x + 1] + at[2 * x + 2]);
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
  std::array<double, 4> sums{};  // that do not wait for each other
  for (int z = 0; z < level.points()[2]; ++z) {
    for (int y = 0; y < level.points()[1]; ++y) {
      const double* const row = values.data() + level.index(0, y, z);
      const auto count = static_cast<std::size_t>(level.points()[0]);
      for (std::size_t x = 0; x < count; ++x) sums[x % sums.size()] += row[x] * row[x];
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace fabriscope::npb
