// EP: pairs of Gaussian deviates by acceptance and rejection, counted by annuli. Nothing is sent
// but the sums at the end.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "kernel.h"
#include "random.h"

namespace fabriscope::npb {
namespace {

constexpr std::uint64_t kSeed = 271828183;
constexpr int kLogBlock = 16;
constexpr std::int64_t kBlockPairs = std::int64_t{1} << kLogBlock;
constexpr std::size_t kAnnuli = 12;  // a square is at least 2^-90: none lies beyond
constexpr double kTolerance = 1e-8;

struct EpClass {
  int log_pairs;
  double sum_x;
  double sum_y;
};
constexpr std::array<EpClass, kClassCount> kClasses{{
    {24, -3.247834652034740e+3, -6.958407078382297e+3},
    {25, -2.863319731645753e+3, -6.320053679109499e+3},
    {28, -4.295875165629892e+3, -1.580732573678431e+4},
    {30, 4.033815542441498e+4, -2.660669192809235e+4},
    {32, 4.764367927995374e+4, -8.084072988043731e+4},
    {36, 1.982481200946593e+5, -1.020596636361769e+5},
}};

// What all ranks add up.
struct Sums {
  double x = 0.0;
  double y = 0.0;
  std::array<double, kAnnuli> counts{};
};
constexpr int kSumCount = sizeof(Sums) / sizeof(double);

// Uniform in (-1, 1).
void fill(std::vector<double>& numbers, std::uint64_t seed) {
  fill_random(numbers.data(), numbers.size(), seed, 2.0, -1.0);
}

class Ep : public Kernel {
 public:
  Problem problem(ProblemClass problem_class) const override {
    const std::int64_t pairs = std::int64_t{1} << kClasses[problem_class].log_pairs;
    return {{pairs}, 1, 2.0 * static_cast<double>(pairs), "random numbers"};
  }
  bool allows(ProblemClass problem_class, int rank_count) const override {
    return rank_count <= blocks(problem_class);
  }
  std::string allowed(ProblemClass problem_class) const override {
    return "any number up to " + std::to_string(blocks(problem_class));
  }
  std::int64_t needed_bytes(ProblemClass, int) const override {
    return (2 + 3) * kBlockPairs * std::int64_t{sizeof(double)};
  }

  void run(Run& run) const override {
    Phase& phase = run.add_phase("sums", "allreduce");
    std::vector<double> numbers(2 * kBlockPairs);
    std::vector<double> accepted(3 * kBlockPairs);
    const Share mine = share_of(blocks(run.problem_class()), run.rank_count(), run.rank());
    Sums sums;
    fill(numbers, kSeed);  // touches the memory
    add_block(numbers, accepted, sums);
    sums = {};
    run.start();
    for (std::int64_t block = mine.begin; block < mine.begin + mine.count; ++block) {
      const auto skipped = static_cast<std::uint64_t>(2 * kBlockPairs * block);
      std::uint64_t seed = kSeed * skip(skipped) & kModulusMask;
      if (run.is_damaged() && block == 0) seed += 10;
      fill(numbers, seed);
      add_block(numbers, accepted, sums);
    }
    phase.time(sizeof sums, [&] {
      MPI_Allreduce(MPI_IN_PLACE, &sums, kSumCount, MPI_DOUBLE, MPI_SUM, run.communicator());
    });
    run.stop();
    run.check("sum of x", kClasses[run.problem_class()].sum_x, sums.x, kTolerance);
    run.check("sum of y", kClasses[run.problem_class()].sum_y, sums.y, kTolerance);
  }

 private:
  static int blocks(ProblemClass problem_class) {
    return 1 << (kClasses[problem_class].log_pairs - kLogBlock);
  }

  // First what is accepted, then its logarithms: loops without unforeseeable branches.
  static void add_block(const std::vector<double>& numbers, std::vector<double>& accepted,
                        Sums& sums) {
    double* const x = accepted.data();
    double* const y = x + kBlockPairs;
    double* const square = y + kBlockPairs;
    std::size_t count = 0;
    for (std::size_t i = 0; i < numbers.size(); i += 2) {
      x[count] = numbers[i];
      y[count] = numbers[i + 1];
      square[count] = numbers[i] * numbers[i] + numbers[i + 1] * numbers[i + 1];
      count += square[count] <= 1.0 ? 1 : 0;
      if (count == static_cast<std::size_t>(kBlockPairs)) break;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const double factor = std::sqrt(-2.0 * std::log(square[i]) / square[i]);
      const double gauss_x = x[i] * factor;
      const double gauss_y = y[i] * factor;
      sums.counts[static_cast<std::size_t>(std::max(std::fabs(gauss_x), std::fabs(gauss_y)))] += 1;
      sums.x += gauss_x;
      sums.y += gauss_y;
    }
  }
};

}  // namespace
}  // namespace fabriscope::npb

FABRISCOPE_REGISTER_KERNEL("ep", Ep)
