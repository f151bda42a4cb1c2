// BT: a compressible fluid in a cube, in steps of time, each by lines along x, then y, then z.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "bt_cell.h"
#include "bt_rhs.h"
#include "bt_solve.h"
#include "kernel.h"

namespace fabriscope::npb {
namespace {

constexpr double kTolerance = 1e-8;
constexpr int kLeastPointsPerCell = 3;

struct BtClass {
  int points_per_side;
  int iteration_count;
  double time_step;
  State residual, error;  // root mean squares
};
constexpr std::array<BtClass, kClassCount> kClasses{{
    {12,
     60,
     0.010,
     {1.7034283709541311e-01, 1.2975252070034097e-02, 3.2527926989486055e-02,
      2.6436421275166801e-02, 1.9211784131744430e-01},
     {4.9976913345811579e-04, 4.5195666782961927e-05, 7.3973765172921357e-05,
      7.3821238632439731e-05, 8.9269630987491446e-04}},
    {24,
     200,
     0.0008,
     {0.1125590409344e+03, 0.1180007595731e+02, 0.2710329767846e+02, 0.2469174937669e+02,
      0.2638427874317e+03},
     {0.4419655736008e+01, 0.4638531260002e+00, 0.1011551749967e+01, 0.9235878729944e+00,
      0.1018045837718e+02}},
    {64,
     200,
     0.0008,
     {1.0806346714637264e+02, 1.1319730901220813e+01, 2.5974354511582465e+01,
      2.3665622544678910e+01, 2.5278963211748344e+02},
     {4.2348416040525025e+00, 4.4390282496995698e-01, 9.6692480136345650e-01,
      8.8302063039765474e-01, 9.7379901770829278e+00}},
    {102,
     200,
     0.0003,
     {1.4233597229287254e+03, 9.9330522590150238e+01, 3.5646025644535285e+02,
      3.2485447959084092e+02, 3.2707541254659363e+03},
     {5.2969847140936856e+01, 4.4632896115670668e+00, 1.3122573342210174e+01,
      1.2006925323559144e+01, 1.2459576151035986e+02}},
    {162,
     200,
     0.0001,
     {0.62398116551764615e+04, 0.50793239190423964e+03, 0.15423530093013596e+04,
      0.13302387929291190e+04, 0.11604087428436455e+05},
     {0.16462008369091265e+03, 0.11497107903824313e+02, 0.41207446207461508e+02,
      0.37087651059694167e+02, 0.36211053051841265e+03}},
    {408,
     250,
     0.00002,
     {0.2533188551738e+05, 0.2346393716980e+04, 0.6294554366904e+04, 0.5352565376030e+04,
      0.3905864038618e+05},
     {0.3100009377557e+03, 0.2424086324913e+02, 0.7782212022645e+02, 0.6835623860116e+02,
      0.6065737200368e+03}},
}};

// Is called with each point of a cell, its index, and its place in the cube whose sides are 1.
template <typename Do>
void for_each_point(const Cell& cell, int ghosts, Do&& act) {
  const double scale = 1.0 / (cell.points_per_side - 1.0);
  for (int z = -ghosts; z < cell.size[2] + ghosts; ++z) {
    for (int y = -ghosts; y < cell.size[1] + ghosts; ++y) {
      for (int x = -ghosts; x < cell.size[0] + ghosts; ++x) {
        act(static_cast<std::size_t>(cell.index({x, y, z})), (x + cell.first[0]) * scale,
            (y + cell.first[1]) * scale, (z + cell.first[2]) * scale);
      }
    }
  }
}

// On the surface the exact state, within it what that gives between opposite sides.
State initial_state(double x, double y, double z) {
  const auto is_end = [](double at) { return at <= 0.0 || at >= 1.0; };
  if (is_end(x) || is_end(y) || is_end(z)) return exact_state(x, y, z);
  const auto between = [](double at, const State& low, const State& high, std::size_t m) {
    return at * high[m] + (1.0 - at) * low[m];
  };
  const std::array<State, 2> in_x{exact_state(0.0, y, z), exact_state(1.0, y, z)};
  const std::array<State, 2> in_y{exact_state(x, 0.0, z), exact_state(x, 1.0, z)};
  const std::array<State, 2> in_z{exact_state(x, y, 0.0), exact_state(x, y, 1.0)};
  State state{};
  for (std::size_t m = 0; m < kFields; ++m) {
    const double a = between(x, in_x[0], in_x[1], m);
    const double b = between(y, in_y[0], in_y[1], m);
    const double c = between(z, in_z[0], in_z[1], m);
    state[m] = a + b + c - a * b - a * c - b * c + a * b * c;
  }
  return state;
}

class Fluid {
 public:
  explicit Fluid(Run& run);

  void reset();
  void step();
  void check(Run& run);

 private:
  void make_forcing();
  void find_change(Phase& face_phase);
  template <typename Do>
  void for_each_inner_point(Do&& act);
  State root_mean_squares(State sums) const;

  Run& run_;
  const BtClass& problem_;
  Cells cells_;
  Phase& face_phase_;
  UpperBlocks uppers_;
  LineSolver x_lines_, y_lines_, z_lines_;
};

Fluid::Fluid(Run& run)
    : run_(run),
      problem_(kClasses[run.problem_class()]),
      cells_(run, problem_.points_per_side),
      face_phase_(run.add_phase("faces", "isend")),
      uppers_(static_cast<std::size_t>(cells_.per_side())),
      x_lines_(run, cells_, uppers_, 0, "x_solve", problem_.time_step),
      y_lines_(run, cells_, uppers_, 1, "y_solve", problem_.time_step),
      z_lines_(run, cells_, uppers_, 2, "z_solve", problem_.time_step) {
  make_forcing();
  if (!run.is_damaged()) return;
  Cell& cell = cells_.all().front();
  double& value = cell.forcing[static_cast<std::size_t>(cell.index({1, 1, 1}))][0];
  value = damaged(value);
}

// With it the exact states would not change.
void Fluid::make_forcing() {
  for (Cell& cell : cells_.all()) {
    std::vector<State> exact(cell.solution.size());
    for_each_point(cell, kGhosts, [&](std::size_t i, double x, double y, double z) {
      exact[i] = exact_state(x, y, z);
    });
    add_flows(cell, exact, cell.forcing);
    for (State& state : cell.forcing) {
      for (double& value : state) value = -value;
    }
  }
}

void Fluid::reset() {
  for (Cell& cell : cells_.all()) {
    for_each_point(cell, 0, [&](std::size_t i, double x, double y, double z) {
      cell.solution[i] = initial_state(x, y, z);
    });
  }
}

template <typename Do>
void Fluid::for_each_inner_point(Do&& act) {
  for (Cell& cell : cells_.all()) {
    for_each_line(cell, 0, [&](std::ptrdiff_t start, std::size_t) {
      const auto first = static_cast<std::size_t>(start);
      const auto end = first + static_cast<std::size_t>(cell.end(0));
      for (auto i = first + static_cast<std::size_t>(cell.begin(0)); i < end; ++i) act(cell, i);
    });
  }
}

void Fluid::find_change(Phase& face_phase) {
  cells_.exchange_faces(run_, face_phase);
  for (Cell& cell : cells_.all()) {
    cell.change = cell.forcing;
    add_flows(cell, cell.solution, cell.change);
  }
  for_each_inner_point([&](Cell& cell, std::size_t i) {
    for (double& value : cell.change[i]) value *= problem_.time_step;
  });
}

void Fluid::step() {
  find_change(face_phase_);
  x_lines_.solve();
  y_lines_.solve();
  z_lines_.solve();
  for_each_inner_point([](Cell& cell, std::size_t i) {
    for (std::size_t m = 0; m < kFields; ++m) cell.solution[i][m] += cell.change[i][m];
  });
}

State Fluid::root_mean_squares(State sums) const {
  State all{};
  MPI_Allreduce(sums.data(), all.data(), kFields, MPI_DOUBLE, MPI_SUM, run_.communicator());
  const double points = std::pow(problem_.points_per_side - 2, kAxes);
  for (double& value : all) value = std::sqrt(value / points);
  return all;
}

void Fluid::check(Run& run) {
  State error_sums{};
  for (const Cell& cell : cells_.all()) {
    for_each_point(cell, 0, [&](std::size_t i, double x, double y, double z) {
      const State exact = exact_state(x, y, z);
      for (std::size_t m = 0; m < kFields; ++m) {
        error_sums[m] += std::pow(cell.solution[i][m] - exact[m], 2);
      }
    });
  }
  Phase unreported("faces", "isend");
  find_change(unreported);
  State residual_sums{};
  for_each_inner_point([&](const Cell& cell, std::size_t i) {
    for (std::size_t m = 0; m < kFields; ++m) {
      residual_sums[m] += std::pow(cell.change[i][m] / problem_.time_step, 2);
    }
  });
  const State residual = root_mean_squares(residual_sums);
  const State error = root_mean_squares(error_sums);
  for (std::size_t m = 0; m < kFields; ++m) {
    const std::string number = " " + std::to_string(m + 1);
    run.check("residual" + number, problem_.residual[m], residual[m], kTolerance);
    run.check("error" + number, problem_.error[m], error[m], kTolerance);
  }
}

int root_of(int count) {
  int root = 1;
  while (root * root < count) ++root;
  return root;
}

class Bt : public Kernel {
 public:
  Problem problem(ProblemClass problem_class) const override {
    const BtClass& sizes = kClasses[problem_class];
    const std::int64_t side = sizes.points_per_side;
    const auto n = static_cast<double>(side);
    const double each = 3478.8 * n * n * n - 17655.7 * n * n + 28023.7 * n;
    return {
        {side, side, side}, sizes.iteration_count, sizes.iteration_count * each, "floating point"};
  }
  bool allows(ProblemClass problem_class, int rank_count) const override {
    const int root = root_of(rank_count);
    return root * root == rank_count && root <= most_per_side(problem_class);
  }
  std::string allowed(ProblemClass problem_class) const override {
    const int most = most_per_side(problem_class);
    return "squares up to " + std::to_string(most * most);
  }
  // Three states and a block for each point; what is exact stands beside them for a while.
  std::int64_t needed_bytes(ProblemClass problem_class, int rank_count) const override {
    const int cells = root_of(rank_count);
    const std::int64_t side = kClasses[problem_class].points_per_side;
    const std::int64_t points = (side + cells - 1) / cells;
    const std::int64_t with_ghosts = points + 2 * kGhosts;
    return cells * (3 * std::int64_t{sizeof(State)} * with_ghosts * with_ghosts * with_ghosts +
                    std::int64_t{sizeof(Block)} * points * points * points) +
           std::int64_t{sizeof(State)} * with_ghosts * with_ghosts * with_ghosts;
  }

  void run(Run& run) const override {
    Fluid fluid(run);
    fluid.reset();
    fluid.step();  // touches the memory
    fluid.reset();
    const int steps = kClasses[run.problem_class()].iteration_count;
    run.start();
    for (int i = 0; i < steps; ++i) fluid.step();
    run.stop();
    fluid.check(run);
  }

 private:
  static int most_per_side(ProblemClass problem_class) {
    return kClasses[problem_class].points_per_side / kLeastPointsPerCell;
  }
};

}  // namespace
}  // namespace fabriscope::npb

FABRISCOPE_REGISTER_KERNEL("bt", Bt)
