// Measuring in turns with other programs: rank 0 waits for its turn, and its ranks with it.
#include "session.h"

namespace fabriscope {

// Begins a turn where this program has none, or the one that it has was long enough. False where a
// signal asks for an end.
bool Session::may_measure() {
  if (interrupted()) return false;
  if (!turns_ || (!taken_turns_.empty() && is_alone() && !turns_->is_over())) return true;
  const std::int64_t since_ns = clock_.elapsed_ns();
  if (!taken_turns_.empty()) taken_turns_.back().end_ns = since_ns;
  bool is_ours = false;
  rendezvous_.broadcast("rest");
  rendezvous_.rest([&] { is_ours = turns_->next(); });
  const std::int64_t now_ns = clock_.elapsed_ns();
  rested_ns_ += now_ns - since_ns;
  if (is_ours) taken_turns_.push_back({turns_->cycle(), now_ns, now_ns});
  return is_ours && !interrupted();
}

// Whether nobody else may have measured since this turn began.
bool Session::is_alone() const { return !turns_ || turns_->is_ours(); }

void Session::report_turns() {
  if (!turns_) return;
  if (!taken_turns_.empty()) taken_turns_.back().end_ns = clock_.elapsed_ns();
  turns_.reset();
  std::string list;
  for (const Turn& turn : taken_turns_) {
    list += (list.empty() ? "[" : ",[") + std::to_string(turn.cycle) + "," +
            std::to_string(turn.begin_ns) + "," + std::to_string(turn.end_ns) + "]";
  }
  reporter_->line(JsonObject()
                      .add("type", "turns")
                      .add("member", spec_.turns.member)
                      .add("member_count", spec_.turns.member_count)
                      .add("turn_ns", spec_.turns.turn_ns)
                      .add("rested_ns", rested_ns_)
                      .add("shared_burst_count", shared_burst_count_)
                      .add_raw("turns", "[" + list + "]"));
}

}  // namespace fabriscope
