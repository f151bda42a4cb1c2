// The samples that were taken and not yet written: memory of a fixed size, touched before the
// clock starts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "schedule.h"

namespace fabriscope {

struct Burst {
  std::size_t case_index = 0;
  std::int64_t round = 0;
  std::int64_t number = 0;
  std::int64_t start_ns = 0;
  BurstPlan plan;
};

class SampleStore {
 public:
  // The bound holds for samples and for what is remembered of their bursts, together.
  explicit SampleStore(std::int64_t memory_bytes);

  std::int64_t sample_capacity() const { return static_cast<std::int64_t>(sample_capacity_); }
  bool has_room(std::int64_t sample_count) const;
  // Where the next burst's samples go. The caller has asked has_room().
  std::int64_t* tail() { return samples_.get() + used_; }
  // Keeps the plan.sample_count() samples at the tail.
  void commit(const Burst& burst);

  const std::vector<Burst>& bursts() const { return bursts_; }
  const std::int64_t* samples() const { return samples_.get(); }
  void clear();

  std::int64_t peak_bytes() const { return static_cast<std::int64_t>(peak_bytes_); }

 private:
  std::size_t sample_capacity_;
  std::size_t burst_capacity_;
  std::unique_ptr<std::int64_t[]> samples_;
  std::vector<Burst> bursts_;
  std::size_t used_ = 0;
  std::size_t peak_bytes_ = 0;
};

}  // namespace fabriscope
