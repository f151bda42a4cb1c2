// Measuring in turns with other programs: rank 0 waits for its turn, and its ranks with it.
#include <algorithm>

#include "session.h"

namespace fabriscope {

// Whether the next visit may begin, in a turn that is begun where this program has none, or has had
// enough of it. False where a signal asks for an end.
bool Session::may_visit() {
  if (interrupted()) return false;
  const bool has_enough = turns_ && has_turn() && turns_->is_over(visit_);
  return (has_turn() && !has_enough) || take_turn();
}

// Likewise in the middle of a visit, where a turn is begun only if the one before was lost.
bool Session::may_measure() { return !interrupted() && (has_turn() || take_turn()); }

bool Session::has_turn() const { return !turns_ || (!taken_turns_.empty() && is_alone()); }

// Goes on where the group is: who was left behind makes up for nothing.
bool Session::take_turn() {
  const std::int64_t since_ns = clock_.elapsed_ns();
  if (!taken_turns_.empty()) taken_turns_.back().end_ns = since_ns;
  bool is_ours = false;
  rendezvous_.broadcast("rest");
  rendezvous_.rest([&] { is_ours = turns_->next(); });
  const std::int64_t now_ns = clock_.elapsed_ns();
  rested_ns_ += now_ns - since_ns;
  if (is_ours) {
    taken_turns_.push_back({turns_->cycle(), now_ns, now_ns});
    visit_ = std::max(visit_, turns_->first_visit());
  }
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
