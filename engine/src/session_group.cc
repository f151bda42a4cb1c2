// Bursts that every rank records, and how they become samples at rank 0.
#include "interrupt.h"
#include "session.h"

namespace fabriscope {

void Session::conduct_recorded_burst(const Burst& burst, BurstPlanner& planner) {
  const CaseState& state = cases_[burst.case_index];
  RoundPlanner& rounds = round_planners_[burst.case_index];
  const Command command{burst.case_index, burst.plan, rounds.next()};
  GroupBurst group{burst, state.timing, command.rounds.late_tolerance_ns, {}, {}, {}};
  {
    current_case_ = spec_.cases[burst.case_index].id;
    const Watchdog::Guard guard(watchdog_, current_case_);
    rendezvous_.broadcast(command.text());
    for (const std::string& text : rendezvous_.gather(record_burst(command).packed())) {
      group.ranks.push_back(RankTimes::unpacked(text));
      note_signal(static_cast<int>(group.ranks.back().signal_number));
    }
  }
  group.samples = combine(state.timing, group.ranks, {});
  group.details = state.benchmark->details();
  reporter_->commit(lines_of(*current_case_, group));
  current_case_.reset();
  std::vector<std::int64_t> durations_ns;
  for (const GroupSample& sample : group.samples) durations_ns.push_back(sample.duration_ns);
  planner.learn(burst.plan, durations_ns.data());
}

RankTimes Session::record_burst(const Command& command) {
  const Timing timing = cases_[command.case_index].timing;
  RankTimes times = timing == Timing::kBarrier ? record_starts(command) : record_calls(command);
  times.signal_number = interrupting_signal();
  return times;
}

// Each operation after a barrier.
RankTimes Session::record_starts(const Command& command) {
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
  const bool records = !is_pair_timing(state.timing) || rank() < peer_in(state);
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
