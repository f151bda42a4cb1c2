// One rank's part in a run, from the specification to the footer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabriscope/benchmark.h"
#include "fabriscope/clock.h"
#include "fabriscope/rendezvous.h"
#include "fabriscope/transport.h"
#include "message_buffer.h"
#include "reporter.h"
#include "schedule.h"
#include "spec.h"
#include "watchdog.h"

namespace fabriscope {

class Session {
 public:
  // `reporter` at rank 0, null elsewhere.
  Session(const Settings& settings, Rendezvous& rendezvous, Spec spec, Reporter* reporter);

  // Returns the exit status. Throws RunError and Interrupted; current_case() tells where.
  int run();
  const std::optional<std::string>& current_case() const { return current_case_; }

 private:
  struct CaseState {
    std::unique_ptr<Benchmark> benchmark;
    Endpoint* endpoint = nullptr;  // null: the case has failed
  };

  // Set-up: session_setup.cc.
  void describe_run();
  void share_token();
  void open_endpoints();
  void open_endpoint(const OptionSet& options, const std::vector<std::size_t>& case_indexes);
  void report_endpoint(const OptionSet& options, const Fields& effective,
                       const std::vector<std::size_t>& case_indexes);
  void refuse_impossible_cases();
  void verify_cases();
  void verify_case(std::size_t case_index);
  void fail_case(std::size_t case_index, const std::string& reason);

  // Measuring: session.cc. Rank 0 conducts, the others follow.
  void conduct();
  void conduct_rounds(std::vector<BurstPlanner>& planners);
  void conduct_burst(std::size_t case_index, std::int64_t round, BurstPlanner& planner);
  void follow();
  void run_burst(std::size_t case_index, BurstTimer& timer);

  int rank() const { return rendezvous_.rank(); }
  int peer() const { return 1 - rendezvous_.rank(); }
  BenchmarkContext context_of(std::size_t case_index);
  bool interrupted();
  Watchdog::Handler alarm_handler();

  Settings settings_;
  Rendezvous& rendezvous_;
  Spec spec_;
  Reporter* reporter_;
  Clock clock_;
  std::vector<CaseState> cases_;
  std::unique_ptr<Transport> transport_;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;
  MessageBuffer send_buffer_;
  MessageBuffer receive_buffer_;
  std::int64_t burst_count_ = 0;
  int signal_number_ = 0;  // that any rank received
  std::optional<std::string> current_case_;
  Watchdog watchdog_;  // last: its thread uses the above
};

}  // namespace fabriscope
