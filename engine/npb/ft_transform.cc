#include "ft_transform.h"

#include <cmath>
#include <utility>

namespace fabriscope::npb {

Transforms::Transforms(std::size_t length) : length_(length), cosines_(length), sines_(length) {
  const double turn = 8.0 * std::atan(1.0);
  for (std::size_t i = 0; i < length; ++i) {
    const double angle = -turn * static_cast<double>(i) / static_cast<double>(length);
    cosines_[i] = std::cos(angle);
    sines_[i] = std::sin(angle);
  }
  for (auto& part : parts_) part.resize(length * kWidth);
}

Transforms::Parts Transforms::run(bool is_inverse) {
  Parts from{parts_[0].data(), parts_[1].data()};
  Parts to{parts_[2].data(), parts_[3].data()};
  std::size_t length = length_;
  std::size_t stride = kWidth;
  while (length > 1) {
    const std::size_t radix = length % 4 == 0 ? 4 : 2;
    radix == 4 ? step_by_four(length, stride, from, to) : step_by_two(stride, from, to);
    length /= radix;
    stride *= radix;
    std::swap(from, to);
  }
  return turned(from, is_inverse);
}

void Transforms::step_by_four(std::size_t length, std::size_t stride, Parts from, Parts to) const {
  const std::size_t quarter = length / 4;
  const std::size_t turns = length_ / length;
  const double* const __restrict in_real = from.real;
  const double* const __restrict in_imaginary = from.imaginary;
  double* const __restrict out_real = to.real;
  double* const __restrict out_imaginary = to.imaginary;
  for (std::size_t p = 0; p < quarter; ++p) {
    const double c1 = cosines_[p * turns];
    const double s1 = sines_[p * turns];
    const double c2 = cosines_[2 * p * turns];
    const double s2 = sines_[2 * p * turns];
    const double c3 = cosines_[3 * p * turns];
    const double s3 = sines_[3 * p * turns];
    const std::size_t a = stride * p;
    const std::size_t b = a + stride * quarter;
    const std::size_t c = b + stride * quarter;
    const std::size_t d = c + stride * quarter;
    const std::size_t o = 4 * a;
    for (std::size_t q = 0; q < stride; ++q) {
      const double sum_ac_real = in_real[a + q] + in_real[c + q];
      const double sum_ac_imaginary = in_imaginary[a + q] + in_imaginary[c + q];
      const double less_ac_real = in_real[a + q] - in_real[c + q];
      const double less_ac_imaginary = in_imaginary[a + q] - in_imaginary[c + q];
      const double sum_bd_real = in_real[b + q] + in_real[d + q];
      const double sum_bd_imaginary = in_imaginary[b + q] + in_imaginary[d + q];
      const double less_bd_real = in_real[b + q] - in_real[d + q];
      const double less_bd_imaginary = in_imaginary[b + q] - in_imaginary[d + q];
      // The second and fourth have i (b - d) taken away and added.
      const double real1 = less_ac_real + less_bd_imaginary;
      const double imaginary1 = less_ac_imaginary - less_bd_real;
      const double real2 = sum_ac_real - sum_bd_real;
      const double imaginary2 = sum_ac_imaginary - sum_bd_imaginary;
      const double real3 = less_ac_real - less_bd_imaginary;
      const double imaginary3 = less_ac_imaginary + less_bd_real;
      out_real[o + q] = sum_ac_real + sum_bd_real;
      out_imaginary[o + q] = sum_ac_imaginary + sum_bd_imaginary;
      out_real[o + stride + q] = c1 * real1 - s1 * imaginary1;
      out_imaginary[o + stride + q] = c1 * imaginary1 + s1 * real1;
      out_real[o + 2 * stride + q] = c2 * real2 - s2 * imaginary2;
      out_imaginary[o + 2 * stride + q] = c2 * imaginary2 + s2 * real2;
      out_real[o + 3 * stride + q] = c3 * real3 - s3 * imaginary3;
      out_imaginary[o + 3 * stride + q] = c3 * imaginary3 + s3 * real3;
    }
  }
}

// The last step, where the length is no power of four.
void Transforms::step_by_two(std::size_t stride, Parts from, Parts to) {
  for (std::size_t q = 0; q < stride; ++q) {
    to.real[q] = from.real[q] + from.real[stride + q];
    to.imaginary[q] = from.imaginary[q] + from.imaginary[stride + q];
    to.real[stride + q] = from.real[q] - from.real[stride + q];
    to.imaginary[stride + q] = from.imaginary[q] - from.imaginary[stride + q];
  }
}

}  // namespace fabriscope::npb
