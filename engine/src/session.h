// One rank's part in a run, from the specification to the footer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabriscope/benchmark.h"
#include "fabriscope/clock.h"
#include "fabriscope/rendezvous.h"
#include "fabriscope/timing.h"
#include "fabriscope/transport.h"
#include "message_buffer.h"
#include "reporter.h"
#include "schedule.h"
#include "spec.h"
#include "timing/common_clock.h"
#include "timing/group_samples.h"
#include "timing/round_plan.h"
#include "turns.h"
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
  using Peers = std::vector<int>;  // of each rank; -1: it has none

  struct CaseState {
    std::unique_ptr<Benchmark> benchmark;
    Parameters parameters;
    OptionSet options;
    Timing timing = Timing::kOrigin;
    BufferUse buffer_use = BufferUse::kSeparate;
    std::vector<Peers> links;               // that it needs
    OptionSet first_options;                // of the first of them, beside `options`
    std::map<std::size_t, Endpoint*> ends;  // this rank's, by the number of their link
    std::vector<Endpoint*> endpoints;       // the same in the order of the links
    bool failed = false;
  };

  static OptionSet options_of(const CaseState& state, std::size_t link);

  // One connection of each rank that takes part in it, and the cases that share it.
  struct Link {
    Peers peers;
    OptionSet options;
    std::vector<std::size_t> case_indexes;
  };

  // How well the ranks knew the common clock when it was last refreshed, and know it now.
  struct ClockAge {
    std::int64_t refreshed_ns = 0;
    std::int64_t least_error_ns = 0;
    std::int64_t error_ns = 0;
  };

  // What the ranks are told of a burst.
  struct Command {
    std::size_t case_index = 0;
    BurstPlan plan;
    RoundPlan rounds;  // on the common clock alone

    std::string text() const;
    static std::optional<Command> parse(std::istream& text);
  };

  // More than a transport takes to find out that it cannot connect, which fails a case and not the
  // run.
  static constexpr std::int64_t kOpeningNs = 30'000'000'000;

  // Set-up: session_setup.cc, session_cases.cc.
  void take_processors();
  void describe_run();
  void share_token();
  void resolve_cases();
  void resolve_case(std::size_t case_index);
  void open_endpoints();
  std::vector<Link> needed_links() const;
  void open_link(const Link& link);
  static void add_end(CaseState& state, const Link& link, Endpoint* endpoint);
  void fail_too_long_cases(const Endpoint* endpoint, const Peers& peers,
                           const std::vector<std::size_t>& case_indexes);
  void report_endpoint(const Link& link, const Fields& effective);
  void report_rejected_connections();
  void refuse_impossible_cases();
  void open_common_clock();
  void prepare_cases();
  void verify_cases();
  void tell_metrics();
  void verify_case(std::size_t case_index);
  std::optional<std::string> verify_payload(std::size_t case_index);
  void fail_case(std::size_t case_index, const std::string& reason);

  // Memory for messages: session_pools.cc.
  void make_buffers();
  void make_pools();
  void report_pools(std::size_t bytes, const std::vector<std::size_t>& case_indexes);
  bool rotates(std::size_t case_index) const;
  std::size_t pool_bytes(const std::vector<std::size_t>& case_indexes) const;
  std::size_t send_place_bytes(std::size_t case_index) const;
  std::size_t receive_place_bytes(std::size_t case_index) const;
  std::pair<Rotation, Rotation> places_of(std::size_t case_index);
  void use_buffers(Endpoint* endpoint, const std::vector<std::size_t>& case_indexes);
  void use_memory(Endpoint* endpoint, const std::vector<std::size_t>& case_indexes,
                  MessageBuffer& sent, MessageBuffer& received);

  // Rank 0's account of what all ranks sent: session_traffic.cc.
  void count_operations(std::size_t case_index, const BurstPlan& plan);
  void count_burst(std::size_t case_index);
  void count_check(std::size_t case_index, std::size_t link, const PayloadCheck& check);
  void count_link(const Peers& peers, const PairTraffic& traffic);
  void report_traffic();

  // Measuring: session.cc. Rank 0 conducts, the others follow.
  void conduct();
  std::vector<BurstPlanner> make_planners();
  void conduct_rounds(std::vector<BurstPlanner>& planners);
  bool visit_case(std::size_t case_index, std::int64_t round, BurstPlanner& planner);
  void conduct_burst(std::size_t case_index, std::int64_t round, BurstPlanner& planner);
  void conduct_origin_burst(Burst& burst, BurstPlanner& planner);
  void follow();
  void run_burst(std::size_t case_index, BurstTimer& timer);
  void note_signal(int signal_number);

  // Turns with other programs, at rank 0: session_turns.cc.
  bool may_visit();
  bool may_measure();
  bool has_turn() const;
  bool take_turn();
  bool is_alone() const;
  void report_turns();

  // Bursts that every rank records: session_group.cc.
  void conduct_recorded_burst(const Burst& burst, BurstPlanner& planner);
  RankTimes record_burst(const Command& command);
  RankTimes record_on_common_clock(const Command& command);
  RankTimes record_after_barriers(const Command& command);
  RankTimes record_calls(const Command& command);
  bool clock_needs_refresh() const;
  void learn_clock_error(bool refreshed, const std::vector<RankTimes>& ranks);
  void report_common_clock();

  int rank() const { return rendezvous_.rank(); }
  int peer_in(const Peers& peers) const { return peers[static_cast<std::size_t>(rank())]; }
  // The other ends of this rank's endpoints, in their order.
  std::vector<int> peers_of(const CaseState& state) const;
  BenchmarkContext context_of(std::size_t case_index, std::size_t endpoint_index = 0);
  bool interrupted();
  Watchdog::Handler alarm_handler();

  Settings settings_;
  Rendezvous& rendezvous_;
  Spec spec_;
  Reporter* reporter_;
  Clock clock_;
  std::unique_ptr<Transport> transport_;
  MessageBuffer send_buffer_;
  MessageBuffer receive_buffer_;
  MessageBuffer send_pool_;
  MessageBuffer receive_pool_;
  std::size_t sent_from_ = 0;  // the next place in each pool, whatever the case
  std::size_t received_at_ = 0;
  std::vector<std::unique_ptr<Endpoint>> endpoints_;  // after the memory that they know
  std::vector<CaseState> cases_;                      // after what their benchmarks use
  std::vector<RoundPlanner> round_planners_;
  std::unique_ptr<CommonClock> common_clock_;  // null: no case is timed by it
  bool is_crowded_ = false;                    // more ranks than processors, here
  ClockAge clock_age_;
  std::map<std::pair<int, int>, Traffic> traffic_;  // from rank, to rank; rank 0 alone
  bool traffic_is_known_ = true;
  std::int64_t burst_count_ = 0;
  std::unique_ptr<Turns> turns_;  // null: this program measures whenever it likes
  std::vector<Turn> taken_turns_;
  std::int64_t visit_ = 0;  // the number of the next one, in rounds over all cases
  std::int64_t rested_ns_ = 0;
  std::int64_t shared_burst_count_ = 0;  // dropped: others measured meanwhile
  int signal_number_ = 0;                // that any rank received
  std::optional<std::string> current_case_;
  Watchdog watchdog_;  // last: its thread uses the above
};

}  // namespace fabriscope
