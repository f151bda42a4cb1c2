// Fourier transforms of a power of two of points, several side by side.
#pragma once

#include <cstddef>
#include <vector>

namespace fabriscope::npb {

// Transforms of one length. Stockham's algorithm by fours: no reordering, and every step runs over
// neighbours in memory. Real and imaginary parts stand apart, so that the compiler can do several
// transforms in one instruction.
class Transforms {
 public:
  static constexpr std::size_t kWidth = 8;  // transforms side by side

  explicit Transforms(std::size_t length);

  struct Parts {
    double* real;
    double* imaginary;
  };
  // Where the numbers go: number `j` of transform `i` to `j` kWidth + `i`. The inverse, times the
  // length, is the forward transform of exchanged parts.
  Parts input(bool is_inverse) { return turned({parts_[0].data(), parts_[1].data()}, is_inverse); }
  // Returns where the results are, in the same order.
  Parts run(bool is_inverse);

 private:
  static Parts turned(Parts parts, bool is_inverse) {
    return is_inverse ? Parts{parts.imaginary, parts.real} : parts;
  }
  void step_by_four(std::size_t length, std::size_t stride, Parts from, Parts to) const;
  static void step_by_two(std::size_t stride, Parts from, Parts to);

  std::size_t length_;
  std::vector<double> cosines_, sines_;  // of whole turns by the length, clockwise
  std::vector<double> parts_[4];
};

}  // namespace fabriscope::npb
