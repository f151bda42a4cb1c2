// CG: the smallest eigenvalue of a sparse matrix by inverse iteration, each step by 25 iterations
// of conjugate gradients. The ranks are a grid; each has a block of the matrix. A vector is shared
// out over the columns of the grid, and the same in all of its rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "cg_matrix.h"
#include "kernel.h"

namespace fabriscope::npb {
namespace {

constexpr int kInnerIterations = 25;
constexpr double kTolerance = 1e-10;
constexpr int kTag = 0;
constexpr std::array<CgClass, kClassCount> kClasses{{
    {1400, 7, 15, 10.0, 8.5971775078648},
    {7000, 8, 15, 12.0, 10.362595087124},
    {14000, 11, 15, 20.0, 17.130235054029},
    {75000, 13, 75, 60.0, 22.712745482631},
    {150000, 15, 75, 110.0, 28.973605592845},
    {1500000, 21, 100, 500.0, 52.514532105794},
}};

constexpr int kLeastOrderPerRank = 8;

// As many columns as rows, or twice as many.
struct Grid {
  explicit Grid(int rank_count) {
    for (; row_count * column_count < rank_count; column_count *= 2) {
      if (column_count > row_count) row_count *= 2;
      if (row_count * column_count >= rank_count) break;
    }
  }
  int row_count = 1;
  int column_count = 1;
};

double dot(const std::vector<double>& left, const std::vector<double>& right) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= left.size(); i += sums.size()) {
    for (std::size_t j = 0; j < sums.size(); ++j) sums[j] += left[i + j] * right[i + j];
  }
  for (; i < left.size(); ++i) sums[0] += left[i] * right[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

class Solver {
 public:
  explicit Solver(Run& run);

  // One step of the inverse iteration; returns zeta.
  double step();
  void reset() { std::fill(x_.begin(), x_.end(), 1.0); }

 private:
  // A block of rows is that of one column of the grid, or of two that are neighbours.
  Share rows_of(int grid_row) const {
    const int width = grid_.column_count / grid_.row_count;
    const Share first = columns_of(grid_row * width);
    const Share last = columns_of(grid_row * width + width - 1);
    return {first.begin, last.begin + last.count - first.begin};
  }
  Share columns_of(int grid_column) const {
    return share_of(problem_.order, grid_.column_count, grid_column);
  }
  int rank_at(int row, int column) const { return row * grid_.column_count + column; }

  void solve();
  void multiply(const std::vector<double>& vector, std::vector<double>& product);
  void multiply_block(const std::vector<double>& vector);
  void sum_rows();
  void transpose(std::vector<double>& product);
  template <std::size_t count>
  void sum(std::array<double, count>& values);
  double sum(double value) {
    std::array<double, 1> values{value};
    sum(values);
    return values[0];
  }

  Run& run_;
  const CgClass& problem_;
  Grid grid_;
  int row_, column_;
  Share rows_, columns_;
  Phase& row_phase_;
  Phase& transpose_phase_;
  Phase& sum_phase_;
  CgMatrix matrix_;
  // Of the products of this rank's rows, what its transpose sends: all, or every second's half.
  Share kept_;
  std::vector<double> products_, others_;
  std::vector<double> x_, z_, p_, q_, r_;
};

Solver::Solver(Run& run)
    : run_(run),
      problem_(kClasses[run.problem_class()]),
      grid_(run.rank_count()),
      row_(run.rank() / grid_.column_count),
      column_(run.rank() % grid_.column_count),
      rows_(rows_of(row_)),
      columns_(columns_of(column_)),
      row_phase_(run.add_phase("row_sums", "sendrecv")),
      transpose_phase_(run.add_phase("transpose", "sendrecv")),
      sum_phase_(run.add_phase("sums", "sendrecv")),
      matrix_(make_cg_matrix(problem_, rows_, columns_)),
      kept_{0, rows_.count},
      products_(static_cast<std::size_t>(rows_.count)),
      others_(products_.size()),
      x_(static_cast<std::size_t>(columns_.count), 1.0),
      z_(x_.size()),
      p_(x_.size()),
      q_(x_.size()),
      r_(x_.size()) {
  if (run.is_damaged()) matrix_.values[0] = damaged(matrix_.values[0]);
  if (grid_.column_count > grid_.row_count) {
    const Share kept = columns_of(2 * row_ + column_ % 2);
    kept_ = {kept.begin - rows_.begin, kept.count};
  }
}

double Solver::step() {
  solve();
  std::array<double, 2> sums{dot(x_, z_), dot(z_, z_)};
  sum(sums);
  const double factor = 1.0 / std::sqrt(sums[1]);
  for (std::size_t i = 0; i < x_.size(); ++i) x_[i] = factor * z_[i];
  return problem_.shift + 1.0 / sums[0];
}

// z = A^-1 x, nearly, and the norm of x - A z, which the specification counts.
void Solver::solve() {
  std::fill(z_.begin(), z_.end(), 0.0);
  r_ = x_;
  p_ = x_;
  double rho = sum(dot(r_, r_));
  for (int iteration = 0; iteration < kInnerIterations; ++iteration) {
    multiply(p_, q_);
    const double alpha = rho / sum(dot(p_, q_));
    for (std::size_t i = 0; i < z_.size(); ++i) {
      z_[i] += alpha * p_[i];
      r_[i] -= alpha * q_[i];
    }
    const double before = rho;
    rho = sum(dot(r_, r_));
    const double beta = rho / before;
    for (std::size_t i = 0; i < p_.size(); ++i) p_[i] = r_[i] + beta * p_[i];
  }
  multiply(z_, r_);
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = x_[i] - r_[i];
  sum(dot(r_, r_));
}

void Solver::multiply(const std::vector<double>& vector, std::vector<double>& product) {
  multiply_block(vector);
  sum_rows();
  transpose(product);
}

// Four sums, or each would wait for the one before.
void Solver::multiply_block(const std::vector<double>& vector) {
  const std::int32_t* const columns = matrix_.columns.data();
  const double* const values = matrix_.values.data();
  const double* const elements = vector.data();
  for (std::size_t row = 0; row < products_.size(); ++row) {
    std::int64_t i = matrix_.row_begins[row];
    const std::int64_t end = matrix_.row_begins[row + 1];
    double sum0 = 0.0;
    double sum1 = 0.0;
    double sum2 = 0.0;
    double sum3 = 0.0;
    for (; i + 4 <= end; i += 4) {
      sum0 += values[i] * elements[columns[i]];
      sum1 += values[i + 1] * elements[columns[i + 1]];
      sum2 += values[i + 2] * elements[columns[i + 2]];
      sum3 += values[i + 3] * elements[columns[i + 3]];
    }
    for (; i < end; ++i) sum0 += values[i] * elements[columns[i]];
    products_[row] = (sum0 + sum1) + (sum2 + sum3);
  }
}

// Over a row of the grid: each rank adds what a partner has, at twice the distance each time. In a
// grid of twice as many columns the first partners halve the work, each keeps one half.
void Solver::sum_rows() {
  const auto swap = [&](int distance, const Share& sent) {
    const int partner = rank_at(row_, column_ ^ distance);
    row_phase_.time(sent.count * std::int64_t{sizeof(double)}, [&] {
      MPI_Sendrecv(products_.data() + sent.begin, static_cast<int>(sent.count), MPI_DOUBLE, partner,
                   kTag, others_.data(), static_cast<int>(kept_.count), MPI_DOUBLE, partner, kTag,
                   run_.communicator(), MPI_STATUS_IGNORE);
    });
    double* const sums = products_.data() + kept_.begin;
    for (std::size_t i = 0; i < static_cast<std::size_t>(kept_.count); ++i) sums[i] += others_[i];
  };
  int distance = 1;
  if (grid_.column_count > grid_.row_count) {
    const Share given =
        kept_.begin == 0 ? Share{kept_.count, rows_.count - kept_.count} : Share{0, kept_.begin};
    swap(distance, given);
    distance = 2;
  }
  for (; distance < grid_.column_count; distance *= 2) swap(distance, kept_);
}

// From the order of rows to that of columns.
void Solver::transpose(std::vector<double>& product) {
  const double* const sent = products_.data() + kept_.begin;
  const int width = grid_.column_count / grid_.row_count;
  const int partner = rank_at(column_ / width, row_ * width + column_ % width);
  if (partner == run_.rank()) {
    std::copy(sent, sent + kept_.count, product.begin());
    return;
  }
  transpose_phase_.time(kept_.count * std::int64_t{sizeof(double)}, [&] {
    MPI_Sendrecv(sent, static_cast<int>(kept_.count), MPI_DOUBLE, partner, kTag, product.data(),
                 static_cast<int>(product.size()), MPI_DOUBLE, partner, kTag, run_.communicator(),
                 MPI_STATUS_IGNORE);
  });
}

// Every row of the grid has the whole vector, and gets the same sum to the last bit.
template <std::size_t count>
void Solver::sum(std::array<double, count>& values) {
  std::array<double, count> theirs{};
  for (int distance = 1; distance < grid_.column_count; distance *= 2) {
    const int partner = rank_at(row_, column_ ^ distance);
    sum_phase_.time(sizeof values, [&] {
      MPI_Sendrecv(values.data(), static_cast<int>(count), MPI_DOUBLE, partner, kTag, theirs.data(),
                   static_cast<int>(count), MPI_DOUBLE, partner, kTag, run_.communicator(),
                   MPI_STATUS_IGNORE);
    });
    for (std::size_t i = 0; i < count; ++i) values[i] += theirs[i];
  }
}

class Cg : public Kernel {
 public:
  Problem problem(ProblemClass problem_class) const override {
    const CgClass& sizes = kClasses[problem_class];
    const double entries = static_cast<double>(sizes.nonzeros) * (sizes.nonzeros + 1);
    const double each = 3.0 + entries + kInnerIterations * (5.0 + entries) + 3.0;
    return {{sizes.order},
            sizes.iteration_count,
            2.0 * sizes.iteration_count * sizes.order * each,
            "floating point"};
  }
  bool allows(ProblemClass problem_class, int rank_count) const override {
    return is_power_of_two(rank_count) && rank_count <= most(problem_class);
  }
  std::string allowed(ProblemClass problem_class) const override {
    return "powers of two up to " + std::to_string(most(problem_class));
  }
  std::int64_t needed_bytes(ProblemClass problem_class, int rank_count) const override {
    const CgClass& sizes = kClasses[problem_class];
    const Grid grid(rank_count);
    const std::int64_t vectors =
        5 * (sizes.order / grid.column_count) + 2 * (sizes.order / grid.row_count);
    return cg_matrix_bytes(sizes, grid.row_count, grid.column_count) +
           vectors * std::int64_t{sizeof(double)};
  }

  void run(Run& run) const override {
    Solver solver(run);
    solver.step();  // touches the memory
    solver.reset();
    double zeta = 0.0;
    const CgClass& sizes = kClasses[run.problem_class()];
    run.start();
    for (int i = 0; i < sizes.iteration_count; ++i) zeta = solver.step();
    run.stop();
    run.check("zeta", sizes.zeta, zeta, kTolerance);
  }

 private:
  static int most(ProblemClass problem_class) {
    int count = 1;
    while (kLeastOrderPerRank * 2 * count <= kClasses[problem_class].order) count *= 2;
    return count;
  }
};

}  // namespace
}  // namespace fabriscope::npb

FABRISCOPE_REGISTER_KERNEL("cg", Cg)
