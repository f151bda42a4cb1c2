// Bursts that every rank records, and how they become samples at rank 0.
#include <algorithm>

#include "interrupt.h"
#include "session.h"

namespace fabriscope {
namespace {

// A comparison of all clocks costs a burst or so: no more often than this because of an error that
// no sample would show.
constexpr std::int64_t kBearableErrorNs = 200;
constexpr std::int64_t kRefreshEveryNs = 1'000'000'000;
// Of an operation that is a burst of its own: time enough for every rank to hear of its instant,
// and one that began late is kept, for its starts are told and nothing else could stand for it.
constexpr std::int64_t kLongLeadNs = 5'000'000;
constexpr std::int64_t kLongLeadPerRankNs = 1'000'000;
constexpr std::int64_t kNeverLateNs = 1'000'000'000'000;

RoundPlan for_a_single_operation(RoundPlan plan, int rank_count) {
  plan.lead_ns = std::max(plan.lead_ns, kLongLeadNs + rank_count * kLongLeadPerRankNs);
  plan.late_tolerance_ns = kNeverLateNs;
  return plan;
}

}  // namespace

void Session::conduct_recorded_burst(const Burst& burst, BurstPlanner& planner) {
  const CaseState& state = cases_[burst.case_index];
  RoundPlanner& rounds = round_planners_[burst.case_index];
  Command command{burst.case_index, burst.plan, rounds.next()};
  const bool by_clock = state.timing == Timing::kCommonClock;
  if (state.benchmark->fills_a_burst()) {
    command.rounds = for_a_single_operation(command.rounds, rendezvous_.rank_count());
  }
  command.rounds.refreshes_clock = by_clock && clock_needs_refresh();
  GroupBurst group{burst, state.timing, command.rounds.late_tolerance_ns, {}, {}, {}, {}};
  {
    current_case_ = spec_.cases[burst.case_index].id;
    const Watchdog::Guard guard(watchdog_, current_case_);
    rendezvous_.broadcast(command.text());
    for (const std::string& text : rendezvous_.gather(record_burst(command).packed())) {
      group.ranks.push_back(RankTimes::unpacked(text));
      note_signal(static_cast<int>(group.ranks.back().signal_number));
    }
  }
  if (!is_alone()) {
    ++shared_burst_count_;
    current_case_.reset();
    return;
  }
  group.samples =
      combine(state.timing, group.ranks, {group.ranks[0].begin_ns, command.rounds.slot_ns});
  group.details = state.benchmark->details();
  for (std::size_t sample = 0; sample < group.samples.size(); ++sample) {
    group.arrived_bytes.push_back(state.benchmark->arrived_bytes(sample));
  }
  count_burst(burst.case_index);
  reporter_->commit(lines_of(*current_case_, group));
  current_case_.reset();
  std::vector<std::int64_t> durations_ns;
  for (const GroupSample& sample : group.samples) durations_ns.push_back(sample.duration_ns);
  if (by_clock) {
    learn_clock_error(command.rounds.refreshes_clock, group.ranks);
    rounds.learn(group.samples);
    // What an operation costs of a burst's time is its slot.
    durations_ns.assign(durations_ns.size(), rounds.next().slot_ns);
  }
  planner.learn(burst.plan, durations_ns.data());
}

// Where the ranks know the common clock so much worse than they could that it shows, and in any
// case after a while, for the longer the clocks are watched the better their drift is known.
bool Session::clock_needs_refresh() const {
  if (!common_clock_->compares()) return false;
  const std::int64_t bearable_ns = clock_age_.least_error_ns * 3 / 2 + kBearableErrorNs;
  return clock_age_.error_ns > bearable_ns ||
         clock_.elapsed_ns() - clock_age_.refreshed_ns > kRefreshEveryNs;
}

void Session::learn_clock_error(bool refreshed, const std::vector<RankTimes>& ranks) {
  clock_age_.error_ns = 0;
  for (const RankTimes& times : ranks) {
    clock_age_.error_ns = std::max(clock_age_.error_ns, times.clock_error_ns);
  }
  if (!refreshed && clock_age_.least_error_ns > 0) return;
  clock_age_.least_error_ns = clock_age_.error_ns;
  clock_age_.refreshed_ns = clock_.elapsed_ns();
}

void Session::report_common_clock() {
  if (!common_clock_) return;
  const Watchdog::Guard guard(watchdog_, std::nullopt);
  common_clock_->refresh();
  const std::vector<std::string> ranks = rendezvous_.gather(common_clock_->summary().text());
  if (reporter_ == nullptr) return;
  std::string all;
  for (const std::string& text : ranks) all += (all.empty() ? "" : ",") + text;
  reporter_->line(JsonObject()
                      .add("type", "clock_model")
                      .add("refresh_count", common_clock_->refresh_count())
                      .add_raw("ranks", "[" + all + "]"));
}

RankTimes Session::record_burst(const Command& command) {
  RankTimes times;
  switch (cases_[command.case_index].timing) {
    case Timing::kCommonClock:
      times = record_on_common_clock(command);
      break;
    case Timing::kBarrier:
      times = record_after_barriers(command);
      break;
    default:
      times = record_calls(command);
  }
  times.signal_number = interrupting_signal();
  return times;
}

// Each operation at its instant, which rank 0 sets once all ranks are ready.
RankTimes Session::record_on_common_clock(const Command& command) {
  const auto count = static_cast<std::size_t>(command.plan.sample_count());
  RankTimes times;
  times.starts_ns.resize(count);
  times.durations_ns.resize(count);
  if (command.rounds.refreshes_clock) common_clock_->refresh();
  std::vector<std::int64_t> instant_ticks(count);
  rendezvous_.gather({});
  const std::int64_t first_ns = common_clock_->now_ns() + command.rounds.lead_ns;
  times.begin_ns = std::stoll(rendezvous_.broadcast(std::to_string(first_ns)));
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::int64_t>(i);
    instant_ticks[i] = common_clock_->ticks_at(times.begin_ns + place * command.rounds.slot_ns);
  }
  GroupStart start;
  start.start_ticks = times.starts_ns.data();
  start.instant_ticks = instant_ticks.data();
  start.ticks_per_us = clock_.ticks_per_us();
  start.is_crowded = is_crowded_ && cases_[command.case_index].benchmark->fills_a_burst();
  BurstTimer timer(clock_.kind(), times.durations_ns.data(), command.plan.sample_count(), 1,
                   watchdog_.progress(), &start);
  run_burst(command.case_index, timer);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t begin = times.starts_ns[i];
    const std::int64_t end = begin + times.durations_ns[i];
    times.starts_ns[i] = common_clock_->common_ns(begin);
    times.durations_ns[i] = common_clock_->common_ns(end) - times.starts_ns[i];
    if (i > 0 && i + 1 < count) continue;
    times.clock_error_ns = std::max(times.clock_error_ns, common_clock_->error_ns(end));
  }
  return times;
}

// Each operation after a barrier.
RankTimes Session::record_after_barriers(const Command& command) {
  const auto count = static_cast<std::size_t>(command.plan.sample_count());
  RankTimes times;
  times.starts_ns.resize(count);
  times.durations_ns.resize(count);
  GroupStart start;
  start.start_ticks = times.starts_ns.data();
  start.rendezvous = &rendezvous_;
  BurstTimer timer(clock_.kind(), times.durations_ns.data(), command.plan.sample_count(), 1,
                   watchdog_.progress(), &start);
  run_burst(command.case_index, timer);
  for (std::int64_t& start_ns : times.starts_ns) {
    start_ns = clock_.to_ns(start_ns - clock_.start_ticks());
  }
  for (std::int64_t& duration_ns : times.durations_ns) duration_ns = clock_.to_ns(duration_ns);
  return times;
}

// One operation right after the other: at every rank, or at the first rank of each pair.
RankTimes Session::record_calls(const Command& command) {
  const CaseState& state = cases_[command.case_index];
  const bool records = !is_pair_timing(state.timing) || rank() < peer_in(state.links.front());
  RankTimes times;
  if (records) times.durations_ns.resize(static_cast<std::size_t>(command.plan.sample_count()));
  BurstTimer timer(clock_.kind(), records ? times.durations_ns.data() : nullptr,
                   command.plan.sample_count(), command.plan.operations_per_sample,
                   watchdog_.progress());
  rendezvous_.barrier();
  run_burst(command.case_index, timer);
  times.begin_ns = clock_.to_ns(timer.start_ticks() - clock_.start_ticks());
  for (std::int64_t& duration_ns : times.durations_ns) duration_ns = clock_.to_ns(duration_ns);
  return times;
}

}  // namespace fabriscope
