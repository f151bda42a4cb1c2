// MG: Poisson's equation in a periodic cube, by cycles from the finest of its grids to the coarsest
// and back. Each rank has a box; neighbours exchange the faces of theirs at every level.
#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <vector>

#include "kernel.h"
#include "mg_level.h"
#include "mg_stencils.h"
#include "random.h"

namespace fabriscope::npb {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr double kTolerance = 1e-8;
constexpr std::size_t kCharges = 10;  // of each sign
constexpr int kLeastPointsPerSide = 4;
constexpr SmootherWeights kSmallWeights{-3.0 / 8.0, 1.0 / 32.0, -1.0 / 64.0};
constexpr SmootherWeights kLargeWeights{-3.0 / 17.0, 1.0 / 33.0, -1.0 / 61.0};

struct MgClass {
  int points_per_side;
  int iteration_count;
  SmootherWeights weights;
  double norm;
};
constexpr std::array<MgClass, kClassCount> kClasses{{
    {32, 4, kSmallWeights, 0.5307707005734e-04},
    {128, 4, kSmallWeights, 0.6467329375339e-05},
    {256, 4, kSmallWeights, 0.2433365309069e-05},
    {256, 20, kLargeWeights, 0.1800564401355e-05},
    {512, 20, kLargeWeights, 0.5706732285740e-06},
    {1024, 50, kLargeWeights, 0.1583275060440e-09},
}};

// A random number and the point that it is drawn for.
struct Draw {
  double value;
  std::int64_t point;  // of the whole grid: x + n (y + n z)
};

// Keeps the ten least of what it is shown, in order.
class Least {
 public:
  Least() { draws_.fill({2.0, -1}); }
  void see(double value, std::int64_t point) {
    if (value >= draws_.back().value) return;
    std::size_t at = draws_.size() - 1;
    for (; at > 0 && draws_[at - 1].value > value; --at) draws_[at] = draws_[at - 1];
    draws_[at] = {value, point};
  }
  // Becomes those of all ranks.
  void merge(const Run& run) {
    constexpr int kBytes = sizeof draws_;
    std::vector<Draw> all(kCharges * static_cast<std::size_t>(run.rank_count()));
    MPI_Allgather(draws_.data(), kBytes, MPI_BYTE, all.data(), kBytes, MPI_BYTE,
                  run.communicator());
    draws_.fill({2.0, -1});
    for (const Draw& draw : all) see(draw.value, draw.point);
  }
  const std::array<Draw, kCharges>& draws() const { return draws_; }

 private:
  std::array<Draw, kCharges> draws_;
};

class Solver {
 public:
  explicit Solver(Run& run);

  void reset() { std::fill(finest().solution.begin(), finest().solution.end(), 0.0); }
  void find_residual();
  void cycle();
  double norm();

 private:
  Level& finest() { return levels_.front(); }
  void place_charges();
  void smooth_and_exchange(Level& level);
  void solve_coarse(std::size_t at);

  Run& run_;
  const MgClass& problem_;
  RankGrid grid_;
  Phase& face_phase_;
  Phase& norm_phase_;
  std::deque<Level> levels_;  // from the finest on
  std::vector<double> charges_;
};

Solver::Solver(Run& run)
    : run_(run),
      problem_(kClasses[run.problem_class()]),
      grid_(run.rank_count()),
      face_phase_(run.add_phase("faces", "sendrecv")),
      norm_phase_(run.add_phase("norms", "allreduce")) {
  for (int points = problem_.points_per_side; points >= 2; points /= 2) {
    levels_.emplace_back(grid_, run.rank(), points, levels_.empty() ? nullptr : &levels_.back());
  }
  charges_.resize(finest().value_count());
  place_charges();
  if (!run.is_damaged()) return;
  double& first = charges_[static_cast<std::size_t>(finest().index(0, 0, 0))];
  first = damaged(first);
}

// +1 where the ten greatest random numbers are drawn, -1 at the ten least.
void Solver::place_charges() {
  const Triple& points = finest().points();
  const Triple place = grid_.place_of(run_.rank());
  const Triple first{place[0] * points[0], place[1] * points[1], place[2] * points[2]};
  const std::int64_t side = problem_.points_per_side;
  Least least;
  Least greatest;  // of the negatives
  std::vector<double> numbers(static_cast<std::size_t>(points[0]));
  for (std::int64_t z = first[2]; z < first[2] + points[2]; ++z) {
    for (std::int64_t y = first[1]; y < first[1] + points[1]; ++y) {
      const std::int64_t row = first[0] + side * (y + side * z);
      const std::uint64_t seed = kSeed * skip(static_cast<std::uint64_t>(row)) & kModulusMask;
      fill_random(numbers.data(), numbers.size(), seed);
      for (std::size_t x = 0; x < numbers.size(); ++x) {
        least.see(numbers[x], row + static_cast<std::int64_t>(x));
        greatest.see(-numbers[x], row + static_cast<std::int64_t>(x));
      }
    }
  }
  const auto charge = [&](Least& chosen, double value) {
    chosen.merge(run_);
    for (const Draw& draw : chosen.draws()) {
      const auto x = static_cast<int>(draw.point % side) - first[0];
      const auto y = static_cast<int>(draw.point / side % side) - first[1];
      const auto z = static_cast<int>(draw.point / side / side) - first[2];
      if (std::min({x, y, z}) < 0 || x >= points[0] || y >= points[1] || z >= points[2]) continue;
      charges_[static_cast<std::size_t>(finest().index(x, y, z))] = value;
    }
  };
  charge(least, -1.0);
  charge(greatest, 1.0);
}

void Solver::find_residual() {
  subtract_product(finest(), charges_, finest().solution, finest().residual);
  finest().exchange(finest().residual, run_, face_phase_);
}

void Solver::smooth_and_exchange(Level& level) {
  smooth(level, problem_.weights, level.residual, level.solution);
  level.exchange(level.solution, run_, face_phase_);
}

// Begins with the residual of the solution so far.
void Solver::cycle() {
  solve_coarse(1);
  add_interpolated(levels_[1], finest());
  find_residual();
  smooth_and_exchange(finest());
}

// A level's correction for the residual of the one before, which is the next finer. Ranks that have
// no point of a level are given the correction where they are between those that have.
void Solver::solve_coarse(std::size_t at) {
  Level& level = levels_[at];
  if (level.has_points()) {
    restrict_residual(levels_[at - 1], level);
    level.exchange(level.residual, run_, face_phase_);
    std::fill(level.solution.begin(), level.solution.end(), 0.0);
    if (at + 1 < levels_.size()) {
      solve_coarse(at + 1);
      add_interpolated(levels_[at + 1], level);
      subtract_product(level, level.residual, level.solution, level.residual);
      level.exchange(level.residual, run_, face_phase_);
    }
    smooth_and_exchange(level);
  }
  level.spread(run_, face_phase_);
}

double Solver::norm() {
  double sum = sum_of_squares(finest(), finest().residual);
  norm_phase_.time(sizeof sum, [&] {
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, run_.communicator());
  });
  return std::sqrt(sum / std::pow(problem_.points_per_side, kAxes));
}

class Mg : public Kernel {
 public:
  Problem problem(ProblemClass problem_class) const override {
    const MgClass& sizes = kClasses[problem_class];
    const std::int64_t side = sizes.points_per_side;
    const auto points = static_cast<double>(side * side * side);
    return {{side, side, side},
            sizes.iteration_count,
            58.0 * sizes.iteration_count * points,
            "floating point"};
  }
  bool allows(ProblemClass problem_class, int rank_count) const override {
    if (!is_power_of_two(rank_count)) return false;
    const int most_parts = RankGrid(rank_count).counts[kAxes - 1];
    return kClasses[problem_class].points_per_side >= kLeastPointsPerSide * most_parts;
  }
  std::string allowed(ProblemClass problem_class) const override {
    int most = 1;
    while (allows(problem_class, 2 * most)) most *= 2;
    return "powers of two up to " + std::to_string(most);
  }
  // The charges, and at each level the solution and the residual, with their ghosts.
  std::int64_t needed_bytes(ProblemClass problem_class, int rank_count) const override {
    const Triple counts = RankGrid(rank_count).counts;
    std::int64_t values = 0;
    for (int side = kClasses[problem_class].points_per_side; side >= 2; side /= 2) {
      std::int64_t level = 1;
      for (const int count : counts) level *= std::max(1, side / count) + 2;
      values += (values == 0 ? 3 : 2) * level;
    }
    return values * std::int64_t{sizeof(double)};
  }

  void run(Run& run) const override {
    const MgClass& problem = kClasses[run.problem_class()];
    Solver solver(run);
    solver.find_residual();
    solver.cycle();  // touches the memory
    solver.reset();
    run.start();
    solver.find_residual();
    solver.norm();
    for (int i = 0; i < problem.iteration_count; ++i) {
      solver.cycle();
      solver.find_residual();
    }
    const double norm = solver.norm();
    run.stop();
    run.check("norm of the residual", problem.norm, norm, kTolerance);
  }
};

}  // namespace
}  // namespace fabriscope::npb

FABRISCOPE_REGISTER_KERNEL("mg", Mg)
