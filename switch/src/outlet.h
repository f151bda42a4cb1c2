// One end of a cable, as far as it sends: a queue for each priority in front of the wire, whose
// turn it is, and which priorities the other end has stopped.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "coalescer.h"
#include "frame.h"
#include "mac_control.h"
#include "qos_settings.h"
#include "switch_memory.h"
#include "wire.h"

namespace fabriscope::lab {

// Of one priority, or of all of them together.
class PauseTimer {
 public:
  // Orders come in the order of time; each of them takes the place of the one before.
  void set(std::int64_t now_ns, std::int64_t until_ns) {
    if (is_paused(now_ns)) {
      until_ns_ = until_ns;
      return;
    }
    total_ns_ += until_ns_ - since_ns_;
    since_ns_ = now_ns;
    until_ns_ = until_ns;
    if (until_ns > now_ns) ++count_;
  }
  bool is_paused(std::int64_t now_ns) const { return now_ns < until_ns_; }
  std::int64_t until_ns() const { return until_ns_; }
  // How often it stopped, and for how long in all until `now_ns`.
  std::int64_t count() const { return count_; }
  std::int64_t paused_ns(std::int64_t now_ns) const {
    return total_ns_ + std::max<std::int64_t>(std::min(now_ns, until_ns_) - since_ns_, 0);
  }
  void reset_counts(std::int64_t now_ns) {
    count_ = total_ns_ = 0;
    until_ns_ = std::max(until_ns_, now_ns);
    since_ns_ = now_ns;
  }

 private:
  std::int64_t since_ns_ = 0;
  std::int64_t until_ns_ = 0;
  std::int64_t total_ns_ = 0;
  std::int64_t count_ = 0;
};

enum class Turn {
  kPriority,  // the highest priority first
  kFair,      // equally many bytes of each (deficit round robin, Shreedhar and Varghese 1996)
};

// Where a frame came from, and what it takes in the switch until it has left.
struct Hold {
  std::size_t priority = 0;
  std::size_t from = 0;   // the end at which it came in
  std::size_t group = 0;  // of that end's shares
  Place place = Place::kNone;
  std::int64_t bytes = 0;
  std::int64_t since_ns = 0;
};

class Outlet {
 public:
  Outlet(std::int64_t rate_bits_per_s, Turn turn)
      : rate_bits_per_s_(rate_bits_per_s), wire_(rate_bits_per_s), turn_(turn) {}

  void set_turn(Turn turn) { turn_ = turn; }
  void set_rate(std::int64_t rate_bits_per_s) {
    rate_bits_per_s_ = rate_bits_per_s;
    wire_.set_rate(rate_bits_per_s);
  }
  void push(FramePointer frame, const Hold& hold) {
    bytes_[hold.priority] += hold.bytes;
    all_bytes_ += hold.bytes;
    most_bytes_ = std::max(most_bytes_, all_bytes_);
    queues_[hold.priority].push_back({std::move(frame), hold});
  }
  void push_control(FramePointer frame) { control_.push_back(std::move(frame)); }

  struct Departure {
    FramePointer frame;
    std::int64_t left_ns;
    bool is_control;
  };
  // Begins with what comes next; nothing while the wire is busy, or where nothing may go.
  std::optional<Departure> start(std::int64_t now_ns) {
    if (is_busy_) return std::nullopt;
    if (!control_.empty()) {
      FramePointer frame = std::move(control_.front());
      control_.pop_front();
      leaving_ = {};
      return begin(std::move(frame), now_ns, true);
    }
    const std::optional<std::size_t> priority = next(now_ns);
    if (!priority) return std::nullopt;
    auto& [frame, hold] = queues_[*priority].front();
    leaving_ = hold;
    Departure departure = begin(std::move(frame), now_ns, false);
    queues_[*priority].pop_front();
    return departure;
  }
  // The frame on the wire has left; returns what it took.
  Hold finish() {
    is_busy_ = false;
    bytes_[leaving_.priority] -= leaving_.bytes;
    all_bytes_ -= leaving_.bytes;
    return leaving_;
  }

  void obey(const PauseOrder& order, std::int64_t now_ns) {
    std::int64_t latest_ns = now_ns;
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
      PauseTimer& pause = pauses_[priority];
      if (order.concerns(priority)) {
        const std::int64_t ns = quanta_ns(order.quanta_of(priority), rate_bits_per_s_);
        pause.set(now_ns, now_ns + ns);
      }
      latest_ns = std::max(latest_ns, pause.until_ns());
    }
    any_pause_.set(now_ns, latest_ns);
  }
  // When the first of its pauses is over by itself; kNever without one.
  std::int64_t next_end_ns(std::int64_t now_ns) const {
    std::int64_t first_ns = kNever;
    for (const PauseTimer& pause : pauses_) {
      if (pause.is_paused(now_ns)) first_ns = std::min(first_ns, pause.until_ns());
    }
    return first_ns;
  }

  const PauseTimer& pause(std::size_t priority) const { return pauses_[priority]; }
  const PauseTimer& any_pause() const { return any_pause_; }
  // What waits or leaves.
  std::int64_t bytes(std::size_t priority) const { return bytes_[priority]; }
  std::int64_t all_bytes() const { return all_bytes_; }
  std::int64_t take_most_bytes() { return std::exchange(most_bytes_, all_bytes_); }
  // When nothing is left that may go, if nothing comes.
  std::int64_t free_ns(std::int64_t now_ns) const {
    std::int64_t wire_bytes = 0;
    for (std::size_t priority = 0; priority < kPriorities; ++priority) {
      if (!pauses_[priority].is_paused(now_ns)) wire_bytes += bytes_[priority];
    }
    if (is_busy_) wire_bytes -= leaving_.bytes;
    if (wire_bytes <= 0) return wire_.free_ns();
    const double waiting_s =
        static_cast<double>(wire_bytes) * 8 / static_cast<double>(rate_bits_per_s_);
    return wire_.free_ns() + static_cast<std::int64_t>(waiting_s * 1e9);
  }
  void reset_counts(std::int64_t now_ns) {
    for (PauseTimer& pause : pauses_) pause.reset_counts(now_ns);
    any_pause_.reset_counts(now_ns);
  }

 private:
  static constexpr std::int64_t kTurnBytes = 1538;

  struct Item {
    FramePointer frame;
    Hold hold;
  };

  Departure begin(FramePointer frame, std::int64_t now_ns, bool is_control) {
    is_busy_ = true;
    const auto bytes = static_cast<std::int64_t>(frame->size_bytes);
    return {std::move(frame), wire_.pass(now_ns, bytes), is_control};
  }
  bool may_go(std::size_t priority, std::int64_t now_ns) const {
    return !queues_[priority].empty() && queues_[priority].front().hold.since_ns <= now_ns &&
           !pauses_[priority].is_paused(now_ns);
  }
  std::optional<std::size_t> next(std::int64_t now_ns) {
    for (std::size_t priority = kPriorities; priority-- > 0;) {
      if (may_go(priority, now_ns)) return turn_ == Turn::kFair ? next_in_turn(now_ns) : priority;
    }
    return std::nullopt;
  }
  // Something may go.
  std::size_t next_in_turn(std::int64_t now_ns) {
    while (true) {
      if (may_go(in_turn_, now_ns)) {
        const std::int64_t bytes = queues_[in_turn_].front().hold.bytes;
        if (credit_bytes_[in_turn_] >= bytes) {
          credit_bytes_[in_turn_] -= bytes;
          return in_turn_;
        }
      } else {
        credit_bytes_[in_turn_] = 0;
      }
      in_turn_ = (in_turn_ + 1) % kPriorities;
      if (may_go(in_turn_, now_ns)) credit_bytes_[in_turn_] += kTurnBytes;
    }
  }

  std::int64_t rate_bits_per_s_;
  Wire wire_;
  Turn turn_;
  std::array<std::deque<Item>, kPriorities> queues_;
  std::array<std::int64_t, kPriorities> bytes_{};
  std::array<std::int64_t, kPriorities> credit_bytes_{};
  std::array<PauseTimer, kPriorities> pauses_;
  PauseTimer any_pause_;
  std::deque<FramePointer> control_;  // goes before everything, whatever is stopped
  std::size_t in_turn_ = 0;
  std::int64_t all_bytes_ = 0;
  std::int64_t most_bytes_ = 0;
  bool is_busy_ = false;
  Hold leaving_;
};

}  // namespace fabriscope::lab
