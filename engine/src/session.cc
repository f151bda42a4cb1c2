#include "session.h"

#include <unistd.h>

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

std::string encode(std::size_t case_index, const BurstPlan& plan) {
  std::ostringstream text;
  text << "burst " << case_index << ' ' << plan.sample_count() << ' ' << plan.operations_per_sample;
  return text.str();
}

}  // namespace

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
  share_token();
  transport_ = transport_registry().create(settings_.transport, settings_);
  describe_run();
  open_endpoints();
  refuse_impossible_cases();
  if (spec_.verify) verify_cases();
  if (rank() == 0) {
    conduct();
  } else {
    follow();
  }
  return signal_number_ == 0 ? kExitOk : 128 + signal_number_;
}

void Session::conduct() {
  std::vector<std::string> case_ids;
  for (const CaseSpec& spec : spec_.cases) case_ids.push_back(spec.id);
  reporter_->begin(case_ids, clock_, spec_.sample_memory_bytes);
  const BurstLimits limits{spec_.burst_ns, spec_.max_burst_operations, reporter_->sample_capacity(),
                           clock_.record_cost_ns()};
  std::vector<BurstPlanner> planners(cases_.size(), BurstPlanner(limits));
  conduct_rounds(planners);
  rendezvous_.broadcast("end " + std::to_string(signal_number_));
  reporter_->finish(signal_number_ == 0 ? "ok" : "interrupted");
}

void Session::conduct_rounds(std::vector<BurstPlanner>& planners) {
  const std::int64_t begin_ns = clock_.elapsed_ns();
  const auto spent = [&] { return clock_.elapsed_ns() - begin_ns >= spec_.budget_ns; };
  for (std::int64_t round = 0; round == 0 || !spent(); ++round) {
    bool any = false;
    for (const std::size_t index : round_order(spec_.seed, round, cases_.size())) {
      if (cases_[index].endpoint == nullptr) continue;
      if (round > 0 && spent()) return;
      while (planners[index].probing() && !interrupted()) {
        conduct_burst(index, round, planners[index]);
      }
      if (interrupted()) return;
      conduct_burst(index, round, planners[index]);
      any = true;
    }
    if (!any) return;
    // The others wait for the next burst meanwhile, so writing never overlaps measuring.
    reporter_->end_round();
  }
}

void Session::conduct_burst(std::size_t case_index, std::int64_t round, BurstPlanner& planner) {
  Burst burst;
  burst.case_index = case_index;
  burst.round = round;
  burst.number = burst_count_++;
  burst.plan = planner.next();
  std::int64_t* samples = reporter_->reserve(burst.plan.sample_count());
  {
    current_case_ = spec_.cases[case_index].id;
    const Watchdog::Guard guard(watchdog_, current_case_);
    rendezvous_.broadcast(encode(case_index, burst.plan));
    BurstTimer timer(clock_.kind(), samples, burst.plan.sample_count(),
                     burst.plan.operations_per_sample, watchdog_.progress());
    run_burst(case_index, timer);
    burst.start_ns = clock_.to_ns(timer.start_ticks() - clock_.start_ticks());
    for (const std::string& text : rendezvous_.gather(std::to_string(interrupting_signal()))) {
      if (text != "0") signal_number_ = std::stoi(text);
    }
  }
  current_case_.reset();
  reporter_->commit(burst);  // the samples are nanoseconds from here on
  planner.learn(burst.plan, samples);
}

void Session::follow() {
  for (;;) {
    std::istringstream command(rendezvous_.broadcast({}));
    std::string verb;
    command >> verb;
    if (verb == "end") {
      command >> signal_number_;
      return;
    }
    std::size_t case_index = 0;
    std::int64_t sample_count = 0;
    std::int64_t operations_per_sample = 0;
    command >> case_index >> sample_count >> operations_per_sample;
    if (verb != "burst" || !command || case_index >= cases_.size()) {
      throw RunError("rank 0 sent a command that this rank does not know");
    }
    current_case_ = spec_.cases[case_index].id;
    const Watchdog::Guard guard(watchdog_, current_case_);
    BurstTimer timer(clock_.kind(), nullptr, sample_count, operations_per_sample,
                     watchdog_.progress());
    run_burst(case_index, timer);
    rendezvous_.gather(std::to_string(interrupting_signal()));
    current_case_.reset();
  }
}

void Session::run_burst(std::size_t case_index, BurstTimer& timer) {
  cases_[case_index].benchmark->run(context_of(case_index), timer);
}

BenchmarkContext Session::context_of(std::size_t case_index) {
  const CaseSpec& spec = spec_.cases[case_index];
  return {*cases_[case_index].endpoint, rank(),
          spec.message_size_bytes,      spec.window_size,
          send_buffer_.data(),          receive_buffer_.data()};
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
