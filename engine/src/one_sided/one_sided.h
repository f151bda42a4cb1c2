// What the one-sided benchmarks have in common: rank 0 and rank 1, one window, and the check of
// what was moved. Further ranks wait.
#pragma once

#include "fabriscope/benchmark.h"

#ifdef FABRISCOPE_WITH_MPI

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "one_sided_case.h"
#include "operation.h"
#include "side.h"
#include "trial.h"
#include "window.h"

namespace fabriscope {

class OneSided : public Benchmark {
 public:
  explicit OneSided(const Operation& operation) : operation_(operation) {}

  Pattern pattern() const override { return Pattern::kGroup; }
  std::vector<std::string> parameter_names() const override {
    return OneSidedCase::parameter_names(operation_);
  }
  std::vector<Timing> timing_kinds() const override { return {Timing::kOrigin}; }
  void prepare(const BenchmarkContext& context) override;
  void run(const BenchmarkContext& context, BurstTimer& timer) override;
  std::optional<std::string> verify_group(const BenchmarkContext& context,
                                          std::uint64_t seed) override;

 protected:
  // Whether an operation is a window of messages, and whether both ranks are origins at once.
  virtual bool has_window() const { return false; }
  virtual bool is_bidirectional() const { return false; }
  // The operations of a burst, at both ranks.
  virtual void measure(Side& side, bool is_first, BurstTimer& timer) = 0;

  bool has_far_check() const { return case_->has_far_check; }

 private:
  void refuse_uncheckable() const;
  std::optional<std::string> check(const Trial& trial, bool is_origin, bool is_target);

  const Operation& operation_;
  std::optional<OneSidedCase> case_;
  std::shared_ptr<Window> window_;
};

}  // namespace fabriscope

// `...`: what the constructor takes.
#define FABRISCOPE_REGISTER_ONE_SIDED(name, type, ...) \
  FABRISCOPE_REGISTER(benchmark_registry, name, [] {   \
    using namespace fabriscope;                        \
    return std::make_unique<type>(__VA_ARGS__);        \
  })

#else

#define FABRISCOPE_REGISTER_ONE_SIDED(name, type, ...) \
  FABRISCOPE_REGISTER(                                 \
      benchmark_registry, name, [] { return nullptr; }, "this program was built without MPI")

#endif
