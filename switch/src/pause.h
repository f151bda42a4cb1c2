// Whether a host may send: what full outputs have told it by pause frames (IEEE 802.3 annex 31B).
#pragma once

#include <cstdint>
#include <deque>

#include "coalescer.h"

namespace fabriscope::lab {

class Pause {
 public:
  // An output asks the host to stop, which it does at `at_ns`; time must not go back.
  void hold(std::int64_t at_ns) {
    if (holders_++ == 0) changes_.push_back({at_ns, true});
  }
  // One that had asked lets it go on.
  void release(std::int64_t at_ns) {
    if (--holders_ == 0) changes_.push_back({at_ns, false});
  }

  // Returns when the host stops or goes on next; kNever where nothing is on its way.
  std::int64_t next_change_ns() const { return changes_.empty() ? kNever : changes_.front().at_ns; }
  void change() {
    const Change next = changes_.front();
    changes_.pop_front();
    if (next.stops) {
      ++count_;
    } else {
      paused_ns_ += next.at_ns - since_ns_;
    }
    is_paused_ = next.stops;
    since_ns_ = next.at_ns;
  }

  // Forgets everything but the counts: the host may send from `now_ns` on.
  void end(std::int64_t now_ns) {
    if (is_paused_ && now_ns > since_ns_) paused_ns_ += now_ns - since_ns_;
    is_paused_ = false;
    since_ns_ = now_ns;
    holders_ = 0;
    changes_.clear();
  }
  void reset_counts(std::int64_t now_ns) {
    count_ = paused_ns_ = 0;
    if (is_paused_) since_ns_ = now_ns;
  }

  bool is_paused() const { return is_paused_; }
  // Returns when it last stopped or went on.
  std::int64_t since_ns() const { return since_ns_; }
  // How often it stopped, and for how long in all until `now_ns`.
  std::int64_t count() const { return count_; }
  std::int64_t paused_ns(std::int64_t now_ns) const {
    return paused_ns_ + (is_paused_ && now_ns > since_ns_ ? now_ns - since_ns_ : 0);
  }

 private:
  struct Change {
    std::int64_t at_ns;
    bool stops;
  };

  std::deque<Change> changes_;
  int holders_ = 0;
  bool is_paused_ = false;
  std::int64_t since_ns_ = 0;
  std::int64_t count_ = 0;
  std::int64_t paused_ns_ = 0;
};

}  // namespace fabriscope::lab
