#include "kernel.h"

#include <cmath>

namespace fabriscope::npb {

KernelRegistry& kernel_registry() {
  static KernelRegistry registry("kernel");
  return registry;
}

double damaged(double value) {
  if (value == 0.0) return 0.1;
  return value + std::pow(10.0, std::floor(std::log10(std::fabs(value))) - 1.0);
}

bool Check::passed() const {
  if (tolerance == 0.0) return computed == expected;
  return std::isfinite(computed) &&
         std::fabs(computed - expected) <= tolerance * std::fabs(expected);
}

Run::Run(MPI_Comm communicator, ProblemClass problem_class, bool is_damaged)
    : communicator_(communicator), problem_class_(problem_class), is_damaged_(is_damaged) {
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &rank_count_);
}

Phase& Run::add_phase(const char* name, const char* operation) {
  return phases_.emplace_back(name, operation);
}

void Run::start() {
  for (Phase& phase : phases_) phase.reset();
  MPI_Barrier(communicator_);
  // What profiles the program counts the timed section: from here on, without what came before it.
  static bool is_first = true;
  MPI_Pcontrol(is_first ? 2 : 1);
  is_first = false;
  begin_ns_ = SteadyClock::now();
}

void Run::stop() {
  ns_ = SteadyClock::now() - begin_ns_;
  MPI_Pcontrol(0);
}

void Run::check(std::string name, double expected, double computed, double tolerance) {
  checks_.push_back({std::move(name), expected, computed, tolerance});
}

}  // namespace fabriscope::npb
