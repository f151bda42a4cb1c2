// Which case comes next, and how many operations its burst has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace fabriscope {

// The order of the cases in a round: a permutation of 0..case_count-1 that depends on the seed and
// the round alone, on any machine and any standard library.
std::vector<std::size_t> round_order(std::uint64_t seed, std::int64_t round,
                                     std::size_t case_count);

// One visit to a case. A sample covers `operations_per_sample` operations.
struct BurstPlan {
  std::int64_t warmup_sample_count = 0;
  std::int64_t measured_sample_count = 0;
  std::int64_t operations_per_sample = 1;

  std::int64_t sample_count() const { return warmup_sample_count + measured_sample_count; }
  std::int64_t operation_count() const { return sample_count() * operations_per_sample; }
};

struct BurstLimits {
  std::int64_t burst_ns = 0;
  std::int64_t stretched_ns = 0;  // of a burst that would hold too few operations
  std::int64_t max_operations = 0;
  std::int64_t max_samples = 0;  // what the sample memory holds
  double record_cost_ns = 0.0;
  bool batches = true;  // a sample may cover several operations
  bool single = false;  // each operation is a burst of its own, the first one warm-up
};

// Sizes a case's bursts from what its earlier ones took. Begins with probes, which are warm-up as
// a whole: an estimate made inside measured operations would choose which of them are kept.
class BurstPlanner {
 public:
  explicit BurstPlanner(const BurstLimits& limits) : limits_(limits) {}

  BurstPlan next() const;
  bool probing() const { return stage_ != Stage::kMeasure; }
  // Of the burst that next() planned, all samples.
  void learn(const BurstPlan& plan, const std::int64_t* durations_ns);

 private:
  enum class Stage { kFirstProbe, kBatchProbe, kMeasure };

  void raise_batch(double operation_ns);

  BurstLimits limits_;
  Stage stage_ = Stage::kFirstProbe;
  double mean_operation_ns_ = 0.0;
  std::int64_t operations_per_sample_ = 1;
};

}  // namespace fabriscope
