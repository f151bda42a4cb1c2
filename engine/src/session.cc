#include "session.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <utility>

#include "fabriscope/burst_timer.h"
#include "fabriscope/error.h"
#include "interrupt.h"

namespace fabriscope {
namespace {

// Rank 0's watchdog speaks first: it is the one that can write the stream.
constexpr std::int64_t kFollowerPatienceNs = 2'000'000'000;
// Of a burst that every rank records rank 0 holds this many numbers a sample and rank at once:
// start and duration, as they came, as they are used, and as they are written.
constexpr std::int64_t kNumbersPerRankSample = 12;
// A burst is stretched for the sake of long operations to so much, and as long as every case can
// be visited so often: a slow second is to hit all of them alike.
constexpr std::int64_t kLongestBurstNs = 50'000'000;
constexpr std::int64_t kVisits = 8;

}  // namespace

std::string Session::Command::text() const {
  std::ostringstream text;
  text << "burst " << case_index << ' ' << plan.warmup_sample_count << ' '
       << plan.measured_sample_count << ' ' << plan.operations_per_sample << ' '
       << rounds.refreshes_clock << ' ' << rounds.lead_ns << ' ' << rounds.slot_ns;
  return text.str();
}

std::optional<Session::Command> Session::Command::parse(std::istream& text) {
  Command command;
  text >> command.case_index >> command.plan.warmup_sample_count >>
      command.plan.measured_sample_count >> command.plan.operations_per_sample >>
      command.rounds.refreshes_clock >> command.rounds.lead_ns >> command.rounds.slot_ns;
  if (!text) return std::nullopt;
  return command;
}

Session::Session(const Settings& settings, Rendezvous& rendezvous, Spec spec, Reporter* reporter)
    : settings_(settings),
      rendezvous_(rendezvous),
      spec_(std::move(spec)),
      reporter_(reporter),
      clock_(Clock::calibrate(settings.clock)),
      watchdog_(rendezvous,
                spec_.case_timeout_ns + (rendezvous.rank() == 0 ? 0 : kFollowerPatienceNs),
                alarm_handler()) {}

int Session::run() {
  take_processors();
  share_token();
  transport_ = transport_registry().create(settings_.transport, settings_);
  describe_run();
  resolve_cases();
  open_endpoints();
  refuse_impossible_cases();
  open_common_clock();
  prepare_cases();
  if (spec_.verify) verify_cases();
  if (rank() == 0) {
    conduct();
  } else {
    follow();
  }
  return signal_number_ == 0 ? kExitOk : 128 + signal_number_;
}

void Session::conduct() {
  tell_metrics();
  std::vector<CaseLabel> labels;
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    const CaseState& state = cases_[index];
    const bool plain = !state.failed && state.timing == Timing::kOrigin;
    labels.push_back({spec_.cases[index].id, plain ? "" : timing_name(state.timing)});
  }
  reporter_->begin(std::move(labels), clock_, spec_.sample_memory_bytes);
  std::vector<BurstPlanner> planners = make_planners();
  round_planners_.resize(cases_.size());
  if (!spec_.turns.table_path.empty()) {
    turns_ = std::make_unique<Turns>(spec_.turns, spec_.seed, spec_.case_timeout_ns);
  }
  conduct_rounds(planners);
  rendezvous_.broadcast("end " + std::to_string(signal_number_));
  report_common_clock();
  report_turns();
  report_traffic();
  reporter_->finish(signal_number_ == 0 ? "ok" : "interrupted");
}

std::vector<BurstPlanner> Session::make_planners() {
  const std::int64_t recorded = reporter_->sample_capacity();
  const auto visits = static_cast<std::int64_t>(std::max<std::size_t>(cases_.size(), 1)) * kVisits;
  const std::int64_t stretched_ns = std::min(kLongestBurstNs, spec_.budget_ns / visits);
  std::vector<BurstPlanner> planners;
  for (const CaseState& state : cases_) {
    const std::int64_t burst_ns = std::max(spec_.burst_ns, state.benchmark->least_burst_ns());
    BurstLimits limits{
        burst_ns, stretched_ns, spec_.max_burst_operations, recorded, clock_.record_cost_ns(),
        true};
    if (state.timing != Timing::kOrigin) {
      limits.max_samples = recorded / (kNumbersPerRankSample * rendezvous_.rank_count());
    }
    limits.batches = state.timing != Timing::kCommonClock && state.timing != Timing::kBarrier;
    limits.single = state.benchmark->fills_a_burst();
    planners.emplace_back(limits);
  }
  return planners;
}

// In each round every case is visited once, in an order of its own; the first round is made
// whatever it takes. A group's programs have one order, and who is left behind passes visits over:
// it owes them, and once its budget is spent it makes no others.
void Session::conduct_rounds(std::vector<BurstPlanner>& planners) {
  const std::int64_t begin_ns = clock_.elapsed_ns();
  const auto spent = [&] { return clock_.elapsed_ns() - begin_ns - rested_ns_ >= spec_.budget_ns; };
  const auto count = static_cast<std::int64_t>(cases_.size());
  std::vector<bool> is_due;
  for (const CaseState& state : cases_) is_due.push_back(!state.failed);
  auto due_count = std::count(is_due.begin(), is_due.end(), true);
  std::vector<std::size_t> order;
  std::int64_t round = -1;
  if (due_count == 0) return;
  while (due_count > 0 || !spent()) {
    if (!may_visit()) return;
    if (visit_ / count != round) {
      round = visit_ / count;
      order = round_order(turns_ ? ~turns_->seed() : spec_.seed, round, cases_.size());
    }
    const std::size_t index = order[static_cast<std::size_t>(visit_++ % count)];
    const bool is_wanted = is_due[index] || (!cases_[index].failed && !spent());
    if (is_wanted && !visit_case(index, round, planners[index])) return;
    due_count -= is_due[index] ? 1 : 0;
    is_due[index] = false;
    // The others wait for the next burst meanwhile, so writing never overlaps measuring.
    if (visit_ % count == 0) reporter_->end_round();
  }
}

// False where a signal asks for an end.
bool Session::visit_case(std::size_t case_index, std::int64_t round, BurstPlanner& planner) {
  while (planner.probing() && may_measure()) conduct_burst(case_index, round, planner);
  if (!may_measure()) return false;
  conduct_burst(case_index, round, planner);
  return true;
}

void Session::conduct_burst(std::size_t case_index, std::int64_t round, BurstPlanner& planner) {
  Burst burst;
  burst.case_index = case_index;
  burst.round = round;
  burst.number = burst_count_++;
  burst.plan = planner.next();
  count_operations(case_index, burst.plan);
  if (cases_[case_index].timing == Timing::kOrigin) {
    conduct_origin_burst(burst, planner);
  } else {
    conduct_recorded_burst(burst, planner);
  }
}

void Session::conduct_origin_burst(Burst& burst, BurstPlanner& planner) {
  std::int64_t* samples = reporter_->reserve(burst.plan.sample_count());
  {
    current_case_ = spec_.cases[burst.case_index].id;
    const Watchdog::Guard guard(watchdog_, current_case_);
    rendezvous_.broadcast(Command{burst.case_index, burst.plan, {}}.text());
    BurstTimer timer(clock_.kind(), samples, burst.plan.sample_count(),
                     burst.plan.operations_per_sample, watchdog_.progress());
    run_burst(burst.case_index, timer);
    count_burst(burst.case_index);
    burst.start_ns = clock_.to_ns(timer.start_ticks() - clock_.start_ticks());
    for (const std::string& text : rendezvous_.gather(std::to_string(interrupting_signal()))) {
      note_signal(std::stoi(text));
    }
  }
  current_case_.reset();
  if (!is_alone()) {
    ++shared_burst_count_;
    return;
  }
  reporter_->commit(burst);  // the samples are nanoseconds from here on
  planner.learn(burst.plan, samples);
}

void Session::follow() {
  for (;;) {
    std::istringstream text(rendezvous_.broadcast({}));
    std::string verb;
    text >> verb;
    if (verb == "end") {
      text >> signal_number_;
      report_common_clock();
      return;
    }
    if (verb == "rest") {
      rendezvous_.rest({});
      continue;
    }
    const std::optional<Command> command = Command::parse(text);
    if (verb != "burst" || !command || command->case_index >= cases_.size()) {
      throw RunError("rank 0 sent a command that this rank does not know");
    }
    current_case_ = spec_.cases[command->case_index].id;
    const Watchdog::Guard guard(watchdog_, current_case_);
    if (cases_[command->case_index].timing == Timing::kOrigin) {
      BurstTimer timer(clock_.kind(), nullptr, command->plan.sample_count(),
                       command->plan.operations_per_sample, watchdog_.progress());
      run_burst(command->case_index, timer);
      rendezvous_.gather(std::to_string(interrupting_signal()));
    } else {
      rendezvous_.gather(record_burst(*command).packed());
    }
    current_case_.reset();
  }
}

// A rank that has no part in a pair's case waits for the next command.
void Session::run_burst(std::size_t case_index, BurstTimer& timer) {
  const CaseState& state = cases_[case_index];
  if (state.benchmark->pattern() != Pattern::kGroup && state.endpoints.empty()) return;
  state.benchmark->run(context_of(case_index), timer);
}

std::vector<int> Session::peers_of(const CaseState& state) const {
  std::vector<int> found;
  for (const Peers& peers : state.links) {
    if (peer_in(peers) >= 0) found.push_back(peer_in(peers));
  }
  return found;
}

BenchmarkContext Session::context_of(std::size_t case_index, std::size_t endpoint_index) {
  const CaseSpec& spec = spec_.cases[case_index];
  const CaseState& state = cases_[case_index];
  const std::vector<int> peers = peers_of(state);
  const auto [outgoing, incoming] = places_of(case_index);
  const bool has_endpoint = endpoint_index < state.endpoints.size();
  return {has_endpoint ? state.endpoints[endpoint_index] : nullptr,
          state.endpoints,
          rank(),
          rendezvous_.rank_count(),
          endpoint_index < peers.size() ? peers[endpoint_index] : -1,
          spec.message_size_bytes,
          spec.window_size,
          send_buffer_.data(),
          receive_buffer_.data(),
          outgoing,
          incoming,
          state.parameters,
          rendezvous_};
}

void Session::note_signal(int signal_number) {
  if (signal_number != 0) signal_number_ = signal_number;
}

bool Session::interrupted() {
  if (interrupting_signal() != 0) signal_number_ = interrupting_signal();
  return signal_number_ != 0;
}

Watchdog::Handler Session::alarm_handler() {
  return [this](const Watchdog::Alarm& alarm) {
    // The main thread hangs and cannot be woken: no destructor can run, and none is needed.
    if (reporter_ != nullptr) {
      try {
        reporter_->finish("failed", alarm.case_id, alarm.reason);
      } catch (const RunError&) {
        // The reader is gone, too; the exit status still tells.
      }
    }
    std::fprintf(stderr, "fabriscope-engine: rank %d, case %s: %s\n", rank(),
                 alarm.case_id ? alarm.case_id->c_str() : "-", alarm.reason.c_str());
    _exit(alarm.exit_code);
  };
}

}  // namespace fabriscope
