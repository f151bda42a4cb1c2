// What a kernel of the NAS Parallel Benchmarks is, and what one run of it measures.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "fabriscope/clock.h"
#include "fabriscope/registry.h"

namespace fabriscope::npb {

enum ProblemClass : int { kClassS, kClassW, kClassA, kClassB, kClassC, kClassD, kClassCount };
constexpr char kClassLetters[] = "SWABCD";

struct Problem {
  std::vector<std::int64_t> size;
  int iteration_count;
  double operation_count;  // of all iterations and ranks, as the specification counts
  const char* operation;   // what is counted
};

// One step of communication: how long this rank was in it, how often, and what it handed to MPI.
class Phase {
 public:
  Phase(const char* name, const char* operation) : name_(name), operation_(operation) {}

  template <typename Call>
  void time(std::int64_t sent_bytes, Call&& call) {
    const std::int64_t begin_ns = SteadyClock::now();
    call();
    ns_ += SteadyClock::now() - begin_ns;
    ++call_count_;
    sent_bytes_ += sent_bytes;
  }
  void reset() { ns_ = call_count_ = sent_bytes_ = 0; }

  const char* name() const { return name_; }
  const char* operation() const { return operation_; }
  std::int64_t ns() const { return ns_; }
  std::int64_t call_count() const { return call_count_; }
  std::int64_t sent_bytes() const { return sent_bytes_; }

 private:
  const char* name_;
  const char* operation_;
  std::int64_t ns_ = 0;
  std::int64_t call_count_ = 0;
  std::int64_t sent_bytes_ = 0;
};

struct Check {
  std::string name;
  double expected;
  double computed;
  double tolerance;  // relative; 0: equal

  bool passed() const;
};

// One run of a kernel, as this rank sees it. MPI's default error handler ends the job with its own
// message, so nobody looks at what MPI returns.
class Run {
 public:
  Run(MPI_Comm communicator, ProblemClass problem_class, bool is_damaged);

  MPI_Comm communicator() const { return communicator_; }
  int rank() const { return rank_; }
  int rank_count() const { return rank_count_; }
  ProblemClass problem_class() const { return problem_class_; }
  // One number of this rank's data is to be wrong by one digit.
  bool is_damaged() const { return is_damaged_ && rank_ == 0; }

  // By all ranks in the same order, before start().
  Phase& add_phase(const char* name, const char* operation);
  // The timed section: start() is a barrier.
  void start();
  void stop();
  // Only rank 0's are looked at.
  void check(std::string name, double expected, double computed, double tolerance);

  std::int64_t ns() const { return ns_; }
  const std::deque<Phase>& phases() const { return phases_; }
  const std::vector<Check>& checks() const { return checks_; }

 private:
  MPI_Comm communicator_;
  int rank_ = 0;
  int rank_count_ = 1;
  ProblemClass problem_class_;
  bool is_damaged_;
  std::deque<Phase> phases_;
  std::vector<Check> checks_;
  std::int64_t begin_ns_ = 0;
  std::int64_t ns_ = 0;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  virtual Problem problem(ProblemClass problem_class) const = 0;
  virtual bool allows(ProblemClass problem_class, int rank_count) const = 0;
  // Reads on from "it takes".
  virtual std::string allowed(ProblemClass problem_class) const = 0;
  // Of the rank that needs most.
  virtual std::int64_t needed_bytes(ProblemClass problem_class, int rank_count) const = 0;
  virtual void run(Run& run) const = 0;
};

using KernelRegistry = Registry<Kernel>;
KernelRegistry& kernel_registry();

// One number wrong in its second digit.
double damaged(double value);

inline bool is_power_of_two(int count) { return count > 0 && (count & (count - 1)) == 0; }

// `total` things shared out over `parts`, none with more than one more than another.
struct Share {
  std::int64_t begin;
  std::int64_t count;
};
inline Share share_of(std::int64_t total, int parts, int part) {
  const std::int64_t least = total / parts;
  const std::int64_t rest = total % parts;
  return {part * least + (part < rest ? part : rest), least + (part < rest ? 1 : 0)};
}

}  // namespace fabriscope::npb

#define FABRISCOPE_REGISTER_KERNEL(name, Kind)    \
  FABRISCOPE_REGISTER(npb::kernel_registry, name, \
                      [] { return std::make_unique<fabriscope::npb::Kind>(); })
