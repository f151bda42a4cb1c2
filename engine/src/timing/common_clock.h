// One clock for all ranks: that of rank 0.
//
// Ranks that read one and the same clock (those of one host) share it; the first of each such group
// compares it, by round trips, with a clock that has been compared already: as a tree, so that n
// clocks take log2(n) steps, each against the common time that the other side computes and not
// against its bare clock. This is HCA3 of Hunold and Carpen-Amarie, "Hierarchical Clock
// Synchronization in MPI" (CLUSTER 2018). Of the round trips of a comparison the shortest counts:
// the answer was read between its two ends, so that half of it bounds the error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../json.h"
#include "clock_model.h"
#include "fabriscope/clock.h"
#include "fabriscope/rendezvous.h"
#include "fabriscope/transport.h"

namespace fabriscope {

// This rank's own clock.
struct ClockSource {
  std::function<std::int64_t()> now_ticks;
  double ns_per_tick = 1.0;
  std::int64_t start_ticks = 0;  // what its times count from
  std::int64_t reading_error_ns = 0;
  std::string domain;  // ranks of equal domains read the same clock
};

// `shared`: as ranks of one host do, who have one kernel; else every rank is for itself.
ClockSource source_of(const Clock& clock, bool shared, int rank);

class CommonClock {
 public:
  // Called by every rank at once, each with its own peer or -1, as Transport::open() is.
  using OpenLink = std::function<std::unique_ptr<Endpoint>(int peer)>;

  // Compares the clocks a first time. Every rank calls it at once, and so with refresh().
  CommonClock(Rendezvous& rendezvous, ClockSource source, const OpenLink& open_link);

  void refresh();
  // False: all ranks read one clock, and there is nothing to refresh.
  bool compares() const { return leaders_.size() > 1; }

  std::int64_t now_ns() const { return model_.common_ns(source_.now_ticks()); }
  std::int64_t common_ns(std::int64_t ticks) const { return model_.common_ns(ticks); }
  std::int64_t ticks_at(std::int64_t common_ns) const { return model_.ticks_at(common_ns); }
  // Of a reading at `ticks`, at most.
  std::int64_t error_ns(std::int64_t ticks) const {
    return model_.error_ns(ticks) + source_.reading_error_ns;
  }

  std::int64_t refresh_count() const { return refresh_count_; }

  // What came of it at this rank, for the output.
  JsonObject summary() const;

 private:
  struct Link {
    std::unique_ptr<Endpoint> endpoint;
    int peer;
    bool answers;  // else it asks
  };

  void find_leaders();
  void open_links(const OpenLink& open_link);
  void compare();
  void share_models();
  void answer(Endpoint& endpoint) const;
  void ask(Endpoint& endpoint);

  Rendezvous& rendezvous_;
  ClockSource source_;
  std::vector<int> leaders_;  // the first rank of each domain
  int own_leader_ = 0;
  std::vector<Link> links_;
  ClockModel model_;
  std::int64_t least_round_trip_ns_ = -1;  // -1: none was made
  std::int64_t last_correction_ns_ = 0;
  std::int64_t refresh_count_ = 0;
};

}  // namespace fabriscope
