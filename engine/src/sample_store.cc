#include "sample_store.h"

#include <algorithm>

namespace fabriscope {
namespace {

// One sixteenth of the memory remembers bursts, the rest holds samples.
constexpr std::size_t kBurstShare = 16;

}  // namespace

SampleStore::SampleStore(std::int64_t memory_bytes) {
  const auto bytes = static_cast<std::size_t>(memory_bytes);
  burst_capacity_ = std::max<std::size_t>(bytes / kBurstShare / sizeof(Burst), 1);
  sample_capacity_ =
      (bytes - std::min(bytes / 2, burst_capacity_ * sizeof(Burst))) / sizeof(std::int64_t);
  // Written, not only reserved: the first store to a page must not fault in the timed region.
  samples_ = std::make_unique<std::int64_t[]>(sample_capacity_);
  std::fill_n(samples_.get(), sample_capacity_, -1);
  bursts_.reserve(burst_capacity_);
}

bool SampleStore::has_room(std::int64_t sample_count) const {
  return bursts_.size() < burst_capacity_ &&
         used_ + static_cast<std::size_t>(sample_count) <= sample_capacity_;
}

void SampleStore::commit(const Burst& burst) {
  bursts_.push_back(burst);
  used_ += static_cast<std::size_t>(burst.plan.sample_count());
  peak_bytes_ =
      std::max(peak_bytes_, used_ * sizeof(std::int64_t) + bursts_.size() * sizeof(Burst));
}

void SampleStore::clear() {
  bursts_.clear();
  used_ = 0;
}

}  // namespace fabriscope
