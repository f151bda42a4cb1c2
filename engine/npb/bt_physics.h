// BT's equations: a compressible fluid's density, momentum and energy, and what flows of them along
// an axis. Constants by the specification, table 3.1 of RNR-94-007.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "axes.h"

namespace fabriscope::npb {

constexpr std::size_t kFields = 5;
using State = std::array<double, kFields>;
using Block = std::array<State, kFields>;  // rows of a matrix

constexpr double kHeatRatio = 1.4;         // c1
constexpr double kHeatRatioLessOne = 0.4;  // c2
constexpr double kViscosity = 0.1;         // c3 c4
constexpr double kConduction = 1.96;       // c1 c5
constexpr double kAlong = 4.0 / 3.0;       // viscosity of the velocity along the axis itself
constexpr double kDissipation = 0.25;
constexpr std::array<double, kAxes> kDiffusion{0.75, 0.75, 1.0};

// Of a cube of `points` a side.
struct Spacing {
  explicit Spacing(int points)
      : inverse(points - 1.0), square(inverse * inverse), half(0.5 * inverse) {}
  double inverse, square, half;  // 1/h, 1/h^2, 1/2h
};

struct Motion {
  explicit Motion(const State& state)
      : inverse_density(1.0 / state[0]),
        velocity{state[1] * inverse_density, state[2] * inverse_density,
                 state[3] * inverse_density},
        kinetic(0.5 * (velocity[0] * velocity[0] + velocity[1] * velocity[1] +
                       velocity[2] * velocity[2])),
        energy(state[4] * inverse_density) {}
  double inverse_density;
  std::array<double, kAxes> velocity;
  double kinetic, energy;  // of each unit of mass
};

// What is carried along, whose first difference counts; and what diffuses, whose second one does.
struct Flux {
  State carried, diffused;
};

inline Flux flux_of(const State& state, std::size_t axis, const Spacing& spacing) {
  const Motion motion(state);
  const double speed = motion.velocity[axis];
  const double pressure = kHeatRatioLessOne * (state[4] - state[0] * motion.kinetic);
  const double viscosity = kViscosity * spacing.square;
  const double diffusion = kDiffusion[axis] * spacing.square;
  Flux flux{};
  flux.carried[0] = state[axis + 1];
  flux.diffused[0] = diffusion * state[0];
  for (std::size_t i = 0; i < kAxes; ++i) {
    flux.carried[i + 1] = state[i + 1] * speed;
    flux.diffused[i + 1] =
        (i == axis ? kAlong : 1.0) * viscosity * motion.velocity[i] + diffusion * state[i + 1];
  }
  flux.carried[axis + 1] += pressure;
  flux.carried[4] = (state[4] + pressure) * speed;
  flux.diffused[4] = viscosity * ((1.0 - kConduction) * motion.kinetic + speed * speed / 6.0 +
                                  kConduction * motion.energy) +
                     diffusion * state[4];
  return flux;
}

// The flux' derivatives by the state, times factors.
struct Jacobians {
  Block carried, diffused;
};

inline Jacobians jacobians_of(const State& state, std::size_t axis, double carried_factor,
                              double diffused_factor) {
  const Motion motion(state);
  const std::array<double, kAxes>& v = motion.velocity;
  const double speed = v[axis];
  Jacobians result{};
  const double c = carried_factor;
  Block& carried = result.carried;
  carried[0][axis + 1] = c;
  for (std::size_t i = 0; i < kAxes; ++i) {
    carried[i + 1][0] = -c * v[i] * speed;
    carried[i + 1][i + 1] = c * speed;
    carried[4][i + 1] = -c * kHeatRatioLessOne * v[i] * speed;
  }
  for (std::size_t i = 0; i < kAxes; ++i) {
    carried[i + 1][axis + 1] += c * v[i];
    carried[axis + 1][i + 1] -= c * kHeatRatioLessOne * v[i];
  }
  carried[axis + 1][0] += c * kHeatRatioLessOne * motion.kinetic;
  carried[axis + 1][4] = c * kHeatRatioLessOne;
  carried[4][0] =
      c * (2.0 * kHeatRatioLessOne * motion.kinetic - kHeatRatio * motion.energy) * speed;
  carried[4][axis + 1] += c * (kHeatRatio * motion.energy - kHeatRatioLessOne * motion.kinetic);
  carried[4][4] = c * kHeatRatio * speed;

  const double viscosity = diffused_factor * kViscosity * motion.inverse_density;
  const double diffusion = diffused_factor * kDiffusion[axis];
  Block& diffused = result.diffused;
  diffused[0][0] = diffusion;
  double first = kConduction * motion.energy;
  for (std::size_t i = 0; i < kAxes; ++i) {
    const double along = i == axis ? kAlong : 1.0;
    diffused[i + 1][0] = -along * viscosity * v[i];
    diffused[i + 1][i + 1] = along * viscosity + diffusion;
    diffused[4][i + 1] = (along - kConduction) * viscosity * v[i];
    first += (along - kConduction) * v[i] * v[i];
  }
  diffused[4][0] = -viscosity * first;
  diffused[4][4] = kConduction * viscosity + diffusion;
  return result;
}

// At a place of the cube whose sides are 1.
inline State exact_state(double x, double y, double z) {
  constexpr std::array<std::array<double, 13>, kFields> kCoefficients{{
      {2.0, 0.0, 0.0, 4.0, 5.0, 3.0, 0.5, 0.02, 0.01, 0.03, 0.5, 0.4, 0.3},
      {1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.01, 0.03, 0.02, 0.4, 0.3, 0.5},
      {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.04, 0.03, 0.05, 0.3, 0.5, 0.4},
      {2.0, 2.0, 0.0, 0.0, 0.0, 2.0, 3.0, 0.03, 0.05, 0.04, 0.2, 0.1, 0.3},
      {5.0, 4.0, 3.0, 2.0, 0.1, 0.4, 0.3, 0.05, 0.04, 0.03, 0.1, 0.3, 0.2},
  }};
  const std::array<double, kAxes> place{x, y, z};
  State state{};
  for (std::size_t m = 0; m < kFields; ++m) {
    const auto& c = kCoefficients[m];
    state[m] = c[0];
    for (std::size_t i = 0; i < kAxes; ++i) {
      const double t = place[i];
      state[m] += t * (c[1 + i] + t * (c[4 + i] + t * (c[7 + i] + t * c[10 + i])));
    }
  }
  return state;
}

}  // namespace fabriscope::npb
