// What the ranks of a group wrote down of a burst, and the samples that it makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../json.h"
#include "../sample_store.h"
#include "fabriscope/fields.h"
#include "fabriscope/timing.h"

namespace fabriscope {

// One rank's account.
struct RankTimes {
  std::int64_t signal_number = 0;
  std::int64_t clock_error_ns = 0;         // of the starts, on the common clock
  std::int64_t begin_ns = 0;               // of the burst, by this rank's clock or the common one
  std::vector<std::int64_t> starts_ns;     // of each sample; empty where only durations are known
  std::vector<std::int64_t> durations_ns;  // empty: this rank answers and records nothing

  std::string packed() const;
  static RankTimes unpacked(const std::string& text);
};

// When the operations of a burst on the common clock were due.
struct Instants {
  std::int64_t first_ns = 0;
  std::int64_t slot_ns = 0;
};

// One sample of all ranks together.
struct GroupSample {
  std::int64_t duration_ns = 0;
  std::int64_t slowest_rank = 0;  // ended last; where the ends are not comparable, took longest
  std::int64_t first_start_ns = 0;
  std::int64_t lateness_ns = 0;  // of the rank that started last, after the instant
};

// One for each sample of the burst. `instants` are those of the common clock.
std::vector<GroupSample> combine(Timing timing, const std::vector<RankTimes>& ranks,
                                 const Instants& instants);

// A burst that all ranks recorded.
struct GroupBurst {
  Burst burst;
  Timing timing = Timing::kBarrier;
  std::int64_t late_tolerance_ns = 0;  // on the common clock; a sample later than this is dropped
  std::vector<RankTimes> ranks;
  std::vector<GroupSample> samples;
  Fields details;
  // Of each sample, of each endpoint of rank 0 and so of each other rank: what came in each
  // interval and, last, after them; empty where the benchmark does not watch that.
  std::vector<std::vector<std::vector<std::int64_t>>> arrived_bytes;
};

// The lines of the output: what was warm-up, what was measured, and each rank's share of that.
std::vector<JsonObject> lines_of(const std::string& case_id, const GroupBurst& group);

}  // namespace fabriscope
