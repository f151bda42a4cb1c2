// FT: a partial differential equation by Fourier transforms in three dimensions. Each rank has
// planes of z with all of x and y; for the transform in z, rows of y with all of z.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "ft_checksums.h"
#include "ft_transform.h"
#include "ft_transpose.h"
#include "kernel.h"
#include "random.h"

namespace fabriscope::npb {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr double kAlpha = 1e-6;
constexpr double kTolerance = 1e-12;
constexpr int kChecksumTerms = 1024;
constexpr std::size_t kWidth = Transforms::kWidth;

struct FtClass {
  FtSizes size;
  int iteration_count;
};
constexpr std::array<FtClass, kClassCount> kClasses{{
    {{64, 64, 64}, 6},
    {{128, 128, 32}, 6},
    {{256, 256, 128}, 6},
    {{512, 256, 256}, 20},
    {{512, 512, 512}, 20},
    {{2048, 1024, 1024}, 25},
}};

// The state in space and its spectrum, this rank's part of both.
class Field {
 public:
  explicit Field(Run& run);

  void initialise();
  void transform_forward();
  // The state at time `iteration`, back in space; its checksum is added to those of all ranks.
  void evolve(int iteration);
  void check(Run& run);

 private:
  void transform_x(Complex* plane, bool is_inverse);
  void transform_y(Complex* plane, std::size_t z, bool is_inverse);
  void transform_z(int iteration);
  void set_decay(int iteration);
  void add_checksum(int iteration);
  bool is_alone() const { return run_.rank_count() == 1; }
  // In the order of ranks; alone, that of planes.
  std::vector<Complex>& rows() { return is_alone() ? planes_ : rows_; }

  Run& run_;
  const FtClass& problem_;
  std::size_t x_, y_, z_;
  Transpose transpose_;
  std::size_t plane_count_, row_count_;  // this rank's of z and of y
  Phase& checksum_phase_;
  Transforms transforms_x_, transforms_y_, transforms_z_;
  std::vector<Complex> spectrum_;  // [z][my y][x]
  std::vector<Complex> planes_;    // [my z][y][x]; and [z][my y][x] on their way
  std::vector<Complex> rows_;      // the same by ranks: [rank][my z][its y][x]
  std::vector<double> decay_x_, decay_y_, decay_z_;
  std::array<Complex, kMostFtIterations> checksums_{};
};

Field::Field(Run& run)
    : run_(run),
      problem_(kClasses[run.problem_class()]),
      x_(static_cast<std::size_t>(problem_.size.x)),
      y_(static_cast<std::size_t>(problem_.size.y)),
      z_(static_cast<std::size_t>(problem_.size.z)),
      transpose_(run, problem_.size),
      plane_count_(static_cast<std::size_t>(transpose_.planes().count)),
      row_count_(static_cast<std::size_t>(transpose_.rows().count)),
      checksum_phase_(run.add_phase("checksum", "reduce")),
      transforms_x_(x_),
      transforms_y_(y_),
      transforms_z_(z_),
      spectrum_(z_ * row_count_ * x_),
      planes_(std::max(spectrum_.size(), plane_count_ * y_ * x_)),
      rows_(is_alone() ? 0 : plane_count_ * y_ * x_),
      decay_x_(x_),
      decay_y_(y_),
      decay_z_(z_) {}

void Field::initialise() {
  const std::size_t plane = x_ * y_;
  const auto first = static_cast<std::size_t>(transpose_.planes().begin);
  for (std::size_t z = 0; z < plane_count_; ++z) {
    const std::uint64_t seed = kSeed * skip(2 * plane * (first + z)) & kModulusMask;
    fill_random(&planes_[z * plane].real, 2 * plane, seed);
  }
  if (run_.is_damaged()) planes_[0].real = damaged(planes_[0].real);
}

void Field::transform_forward() {
  for (std::size_t z = 0; z < plane_count_; ++z) {
    Complex* const plane = &planes_[z * x_ * y_];
    transform_x(plane, false);
    transform_y(plane, z, false);
  }
  // Alone, the planes are in the order of the spectrum.
  is_alone() ? std::swap(planes_, spectrum_) : transpose_.forward(rows_.data(), spectrum_.data());
  transform_z(0);
}

void Field::evolve(int iteration) {
  set_decay(iteration);
  transform_z(iteration);
  if (!is_alone()) transpose_.back(planes_.data(), rows_.data());
  for (std::size_t z = 0; z < plane_count_; ++z) {
    Complex* const plane = &planes_[z * x_ * y_];
    transform_y(plane, z, true);
    transform_x(plane, true);
  }
  add_checksum(iteration);
}

void Field::transform_x(Complex* plane, bool is_inverse) {
  for (std::size_t y = 0; y < y_; y += kWidth) {
    Complex* const rows = plane + y * x_;
    const Transforms::Parts in = transforms_x_.input(is_inverse);
    for (std::size_t x = 0; x < x_; ++x) {
      for (std::size_t i = 0; i < kWidth; ++i) {
        in.real[x * kWidth + i] = rows[i * x_ + x].real;
        in.imaginary[x * kWidth + i] = rows[i * x_ + x].imaginary;
      }
    }
    const Transforms::Parts out = transforms_x_.run(is_inverse);
    for (std::size_t i = 0; i < kWidth; ++i) {
      for (std::size_t x = 0; x < x_; ++x) {
        rows[i * x_ + x] = {out.real[x * kWidth + i], out.imaginary[x * kWidth + i]};
      }
    }
  }
}

// kWidth neighbours in x, times a factor each.
void load(const Complex* from, const double* factors, Transforms::Parts to, std::size_t at) {
  for (std::size_t i = 0; i < kWidth; ++i) {
    to.real[at + i] = factors[i] * from[i].real;
    to.imaginary[at + i] = factors[i] * from[i].imaginary;
  }
}

void store(Transforms::Parts from, std::size_t at, Complex* to) {
  for (std::size_t i = 0; i < kWidth; ++i) to[i] = {from.real[at + i], from.imaginary[at + i]};
}

// Forward it puts the rows where they are sent from, back it takes them from where they came.
void Field::transform_y(Complex* plane, std::size_t z, bool is_inverse) {
  std::array<double, kWidth> ones{};
  ones.fill(1.0);
  Complex* const rows_of_all = rows().data();
  for (std::size_t x = 0; x < x_; x += kWidth) {
    const auto row = [&](std::size_t y, bool is_sent) {
      return (is_sent ? rows_of_all + transpose_.row_at(z, y) : plane + y * x_) + x;
    };
    const Transforms::Parts in = transforms_y_.input(is_inverse);
    for (std::size_t y = 0; y < y_; ++y) load(row(y, is_inverse), ones.data(), in, y * kWidth);
    const Transforms::Parts out = transforms_y_.run(is_inverse);
    for (std::size_t y = 0; y < y_; ++y) store(out, y * kWidth, row(y, !is_inverse));
  }
}

// Forward in place (iteration 0); else back, of the spectrum after its decay, into the planes.
void Field::transform_z(int iteration) {
  const bool is_inverse = iteration > 0;
  const std::size_t layer = row_count_ * x_;
  Complex* const results = is_inverse ? planes_.data() : spectrum_.data();
  const double* const decay_y = &decay_y_[static_cast<std::size_t>(transpose_.rows().begin)];
  for (std::size_t at = 0; at < layer; at += kWidth) {
    const Transforms::Parts in = transforms_z_.input(is_inverse);
    for (std::size_t z = 0; z < z_; ++z) {
      std::array<double, kWidth> factors{};
      const double decay_yz = is_inverse ? decay_z_[z] * decay_y[at / x_] : 1.0;
      for (std::size_t i = 0; i < kWidth; ++i) {
        factors[i] = is_inverse ? decay_yz * decay_x_[at % x_ + i] : 1.0;
      }
      load(&spectrum_[z * layer + at], factors.data(), in, z * kWidth);
    }
    const Transforms::Parts out = transforms_z_.run(is_inverse);
    for (std::size_t z = 0; z < z_; ++z) store(out, z * kWidth, results + z * layer + at);
  }
}

// exp(-4 alpha pi^2 k^2 t) of each dimension; the product is that of all.
void Field::set_decay(int iteration) {
  const double pi = 4.0 * std::atan(1.0);
  const double factor = -4.0 * kAlpha * pi * pi * iteration;
  for (std::vector<double>* decay : {&decay_x_, &decay_y_, &decay_z_}) {
    const std::size_t length = decay->size();
    for (std::size_t i = 0; i < length; ++i) {
      const double wave = static_cast<double>(i < length / 2 ? i : length - i);
      (*decay)[i] = std::exp(factor * wave * wave);
    }
  }
}

void Field::add_checksum(int iteration) {
  Complex sum{};
  for (std::size_t j = 1; j <= kChecksumTerms; ++j) {
    const auto z = static_cast<std::int64_t>(5 * j % z_) - transpose_.planes().begin;
    if (z < 0 || z >= transpose_.planes().count) continue;
    const Complex& term = planes_[(static_cast<std::size_t>(z) * y_ + 3 * j % y_) * x_ + j % x_];
    sum.real += term.real;
    sum.imaginary += term.imaginary;
  }
  Complex& total = checksums_[static_cast<std::size_t>(iteration - 1)];
  checksum_phase_.time(run_.rank() == 0 ? 0 : std::int64_t{sizeof sum}, [&] {
    MPI_Reduce(&sum, &total, 2, MPI_DOUBLE, MPI_SUM, 0, run_.communicator());
  });
}

void Field::check(Run& run) {
  const auto points = static_cast<double>(x_ * y_ * z_);
  for (int i = 0; i < problem_.iteration_count; ++i) {
    const FtChecksum& expected = kFtChecksums[run.problem_class()][static_cast<std::size_t>(i)];
    const Complex& sum = checksums_[static_cast<std::size_t>(i)];
    const std::string name = "checksum " + std::to_string(i + 1);
    run.check(name + " real", expected.real, sum.real / points, kTolerance);
    run.check(name + " imaginary", expected.imaginary, sum.imaginary / points, kTolerance);
  }
}

class Ft : public Kernel {
 public:
  Problem problem(ProblemClass problem_class) const override {
    const FtSizes& sizes = kClasses[problem_class].size;
    const int iterations = kClasses[problem_class].iteration_count;
    const double points = static_cast<double>(sizes.x) * sizes.y * sizes.z;
    const double each = 5.23518 + 7.21113 * std::log(points);
    return {{sizes.x, sizes.y, sizes.z},
            iterations,
            points * (14.8157 + 7.19641 * std::log(points) + each * iterations),
            "floating point"};
  }
  bool allows(ProblemClass problem_class, int rank_count) const override {
    return rank_count <= kClasses[problem_class].size.z;
  }
  std::string allowed(ProblemClass problem_class) const override {
    return "any number up to " + std::to_string(kClasses[problem_class].size.z);
  }
  std::int64_t needed_bytes(ProblemClass problem_class, int rank_count) const override {
    const FtSizes& sizes = kClasses[problem_class].size;
    const std::int64_t in_planes =
        share_of(sizes.z, rank_count, 0).count * std::int64_t{sizes.x} * sizes.y;
    const std::int64_t in_rows =
        share_of(sizes.y, rank_count, 0).count * std::int64_t{sizes.x} * sizes.z;
    const std::int64_t points =
        in_rows + std::max(in_rows, in_planes) + (rank_count > 1 ? in_planes : 0);
    return points * std::int64_t{sizeof(Complex)};
  }

  void run(Run& run) const override {
    Field field(run);
    field.initialise();  // touches the memory
    field.transform_forward();
    const int iterations = kClasses[run.problem_class()].iteration_count;
    run.start();
    field.initialise();
    field.transform_forward();
    for (int iteration = 1; iteration <= iterations; ++iteration) field.evolve(iteration);
    run.stop();
    field.check(run);
  }
};

}  // namespace
}  // namespace fabriscope::npb

FABRISCOPE_REGISTER_KERNEL("ft", Ft)
