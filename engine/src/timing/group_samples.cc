#include "group_samples.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr std::size_t kHeadNumbers = 5;

// The first of several that took longest.
GroupSample longest_of(const std::vector<RankTimes>& ranks, std::size_t sample) {
  GroupSample longest{-1, 0, 0, 0};
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (ranks[rank].durations_ns.empty()) continue;
    const std::int64_t duration_ns = ranks[rank].durations_ns[sample];
    if (duration_ns <= longest.duration_ns) continue;
    longest.duration_ns = duration_ns;
    longest.slowest_rank = static_cast<std::int64_t>(rank);
  }
  return longest;
}

// Of the ranks that recorded; 0 where none did.
std::int64_t mean_of(const std::vector<RankTimes>& ranks, std::size_t sample) {
  std::int64_t total_ns = 0;
  std::int64_t count = 0;
  for (const RankTimes& rank : ranks) {
    if (rank.durations_ns.empty()) continue;
    total_ns += rank.durations_ns[sample];
    ++count;
  }
  return count == 0 ? 0 : (total_ns + count / 2) / count;
}

GroupSample first_start_to_last_end(const std::vector<RankTimes>& ranks, std::size_t sample) {
  GroupSample result;
  result.first_start_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_end_ns = std::numeric_limits<std::int64_t>::min();
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const std::int64_t start_ns = ranks[rank].starts_ns[sample];
    const std::int64_t end_ns = start_ns + ranks[rank].durations_ns[sample];
    result.first_start_ns = std::min(result.first_start_ns, start_ns);
    result.lateness_ns = std::max(result.lateness_ns, start_ns);
    if (end_ns <= last_end_ns) continue;
    last_end_ns = end_ns;
    result.slowest_rank = static_cast<std::int64_t>(rank);
  }
  result.duration_ns = last_end_ns - result.first_start_ns;
  return result;
}

// Each pair counted from its own beginning, for they begin together: when the last of them has
// finished its first samples, and how much later one sample more.
void make_front(const std::vector<RankTimes>& ranks, std::vector<GroupSample>& samples) {
  std::vector<std::int64_t> reached_ns(ranks.size(), 0);
  std::int64_t front_ns = 0;
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    std::int64_t next_ns = 0;
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (ranks[rank].durations_ns.empty()) continue;
      reached_ns[rank] += ranks[rank].durations_ns[sample];
      next_ns = std::max(next_ns, reached_ns[rank]);
    }
    samples[sample].duration_ns = next_ns - front_ns;
    front_ns = next_ns;
  }
}

void put_begins(const RankTimes& rank0, std::vector<GroupSample>& samples) {
  std::int64_t start_ns = rank0.begin_ns;
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    samples[sample].first_start_ns = rank0.starts_ns.empty() ? start_ns : rank0.starts_ns[sample];
    start_ns += rank0.durations_ns[sample];
  }
}

JsonObject block_head(const std::string& type, const std::string& case_id, const GroupBurst& group,
                      const char* phase) {
  JsonObject head;
  head.add("type", std::string_view(type))
      .add("case", std::string_view(case_id))
      .add("round", group.burst.round)
      .add("burst", group.burst.number)
      .add("phase", phase);
  return head;
}

template <typename Range, typename ToNumber>
std::vector<std::int64_t> numbers(const Range& range, ToNumber to_number) {
  std::vector<std::int64_t> result;
  result.reserve(range.size());
  for (const auto& item : range) result.push_back(to_number(item));
  return result;
}

// By how much a sample can be wrong for the clocks' sake: it lies between the readings of two.
std::int64_t clock_error_of(const std::vector<RankTimes>& ranks) {
  std::vector<std::int64_t> errors =
      numbers(ranks, [](const RankTimes& rank) { return rank.clock_error_ns; });
  std::sort(errors.begin(), errors.end(), std::greater<>());
  return errors[0] + (errors.size() > 1 ? errors[1] : 0);
}

JsonObject block_line(const std::string& case_id, const GroupBurst& group, const char* phase,
                      std::size_t first, const std::vector<std::size_t>& kept,
                      std::int64_t late_count) {
  JsonObject line = block_head("block", case_id, group, phase);
  line.add("start_ns", group.samples[first].first_start_ns)
      .add("operations_per_sample", group.burst.plan.operations_per_sample)
      .add("timing", std::string_view(timing_name(group.timing)));
  if (group.timing == Timing::kCommonClock) {
    line.add("clock_error_ns", clock_error_of(group.ranks))
        .add("late_tolerance_ns", group.late_tolerance_ns)
        .add("late_operation_count", late_count);
  }
  if (!group.details.empty()) {
    line.add_raw("details", JsonObject().add_fields(group.details).text());
  }
  line.add("slowest_ranks",
           numbers(kept, [&](std::size_t sample) { return group.samples[sample].slowest_rank; }));
  return line.add("durations_ns", numbers(kept, [&](std::size_t sample) {
                    return group.samples[sample].duration_ns;
                  }));
}

JsonObject rank_line(const std::string& case_id, const GroupBurst& group, std::size_t rank,
                     const std::vector<std::size_t>& kept) {
  const RankTimes& times = group.ranks[rank];
  JsonObject line = block_head("rank_block", case_id, group, "measured");
  line.add("rank", static_cast<std::int64_t>(rank));
  if (group.timing == Timing::kCommonClock) {
    line.add("start_offsets_ns", numbers(kept, [&](std::size_t sample) {
               return times.starts_ns[sample] - group.samples[sample].first_start_ns;
             }));
  }
  return line.add("durations_ns",
                  numbers(kept, [&](std::size_t sample) { return times.durations_ns[sample]; }));
}

void append_streams(const std::string& case_id, const GroupBurst& group, std::size_t sample,
                    std::vector<JsonObject>& lines) {
  if (sample >= group.arrived_bytes.size()) return;
  // The ranks that send come after those that receive.
  auto rank = static_cast<std::int64_t>(group.ranks.size() - group.arrived_bytes[sample].size());
  for (const std::vector<std::int64_t>& bytes : group.arrived_bytes[sample]) {
    JsonObject line = block_head("stream_block", case_id, group, "measured");
    line.add("rank", rank++);
    lines.push_back(line.add("arrived_bytes", bytes));
  }
}

}  // namespace

std::string RankTimes::packed() const {
  std::vector<std::int64_t> all{signal_number, clock_error_ns, begin_ns,
                                static_cast<std::int64_t>(starts_ns.size()),
                                static_cast<std::int64_t>(durations_ns.size())};
  all.insert(all.end(), starts_ns.begin(), starts_ns.end());
  all.insert(all.end(), durations_ns.begin(), durations_ns.end());
  return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(std::int64_t)};
}

RankTimes RankTimes::unpacked(const std::string& text) {
  std::vector<std::int64_t> all(text.size() / sizeof(std::int64_t));
  std::memcpy(all.data(), text.data(), all.size() * sizeof(std::int64_t));
  if (all.size() < kHeadNumbers ||
      all.size() != kHeadNumbers + static_cast<std::size_t>(all[3] + all[4])) {
    throw RunError("a rank sent an account of a burst that is not one");
  }
  const auto starts = all.begin() + kHeadNumbers;
  const auto durations = starts + all[3];
  return {all[0], all[1], all[2], {starts, durations}, {durations, all.end()}};
}

std::vector<GroupSample> combine(Timing timing, const std::vector<RankTimes>& ranks,
                                 const Instants& instants) {
  std::vector<GroupSample> samples(ranks[0].durations_ns.size());
  if (timing == Timing::kCommonClock) {
    for (std::size_t sample = 0; sample < samples.size(); ++sample) {
      samples[sample] = first_start_to_last_end(ranks, sample);
      samples[sample].lateness_ns -=
          instants.first_ns + static_cast<std::int64_t>(sample) * instants.slot_ns;
    }
    return samples;
  }
  for (std::size_t sample = 0; sample < samples.size(); ++sample) {
    samples[sample] = longest_of(ranks, sample);
    samples[sample].duration_ns = mean_of(ranks, sample);
  }
  if (timing == Timing::kPairFront) make_front(ranks, samples);
  put_begins(ranks[0], samples);
  return samples;
}

std::vector<JsonObject> lines_of(const std::string& case_id, const GroupBurst& group) {
  const auto warmup = static_cast<std::size_t>(group.burst.plan.warmup_sample_count);
  std::vector<std::size_t> places(group.samples.size());
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::vector<JsonObject> lines;
  if (warmup > 0) {
    const std::vector<std::size_t> first(places.begin(),
                                         places.begin() + static_cast<std::ptrdiff_t>(warmup));
    lines.push_back(block_line(case_id, group, "warmup", 0, first, 0));
  }
  if (warmup == places.size()) return lines;
  std::vector<std::size_t> kept;
  std::copy_if(places.begin() + static_cast<std::ptrdiff_t>(warmup), places.end(),
               std::back_inserter(kept), [&](std::size_t sample) {
                 return group.timing != Timing::kCommonClock ||
                        group.samples[sample].lateness_ns <= group.late_tolerance_ns;
               });
  const auto late_count = static_cast<std::int64_t>(places.size() - warmup - kept.size());
  lines.push_back(block_line(case_id, group, "measured", warmup, kept, late_count));
  for (std::size_t rank = 0; rank < group.ranks.size(); ++rank) {
    if (group.ranks[rank].durations_ns.empty()) continue;
    lines.push_back(rank_line(case_id, group, rank, kept));
  }
  for (const std::size_t sample : kept) append_streams(case_id, group, sample, lines);
  return lines;
}

}  // namespace fabriscope
