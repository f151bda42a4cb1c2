#include "watchdog.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "fabriscope/burst_timer.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// How often it looks: seldom enough that its waking does not show in the samples.
constexpr std::int64_t kLookEveryNs = 250'000'000;
// A peer that is gone is usually noticed by the main thread, which can say more: wait for that.
constexpr int kDepartedLooks = 4;

// A time in seconds, to a tenth: `10.1 s`.
std::string seconds_text(std::int64_t time_ns) {
  const std::int64_t tenths = time_ns / 100'000'000;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s";
}

}  // namespace

Watchdog::Watchdog(Rendezvous& rendezvous, std::int64_t timeout_ns, Handler on_alarm)
    : rendezvous_(rendezvous),
      timeout_ns_(timeout_ns),
      on_alarm_(std::move(on_alarm)),
      thread_([this] { watch(); }) {
  std::unique_lock<std::mutex> lock(mutex_);
  wake_.wait(lock, [this] { return watching_; });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Watchdog::arm(std::optional<std::string> case_id, std::int64_t extra_ns) {
  const std::lock_guard<std::mutex> lock(mutex_);
  case_id_ = std::move(case_id);
  extra_ns_ = extra_ns;
  std::int64_t left = kWatchedElsewhere;  // by the burst before
  progress_.compare_exchange_strong(left, 0, std::memory_order_relaxed);
  seen_progress_ = progress_.load(std::memory_order_relaxed);
  seen_at_ns_ = SteadyClock::now();
  departed_looks_ = 0;
  armed_ = true;
}

void Watchdog::disarm() {
  const std::lock_guard<std::mutex> lock(mutex_);
  armed_ = false;
}

void Watchdog::watch() {
  // A table of files of its own: while two threads share one, the kernel takes a reference to the
  // file in every call on it, 1 % of a small message over TCP; an MPI library makes several such
  // calls for one. What it says goes through files that were open before it started. Where it is
  // refused, all works as well, a little slower.
  if (unshare(CLONE_FILES) == 0) rendezvous_.close_library_sockets();
  const auto interval = std::chrono::nanoseconds(std::min(kLookEveryNs, timeout_ns_ / 4));
  std::unique_lock<std::mutex> lock(mutex_);
  watching_ = true;
  wake_.notify_one();
  while (!wake_.wait_for(lock, interval, [this] { return stopping_; })) {
    if (!armed_) continue;
    const std::optional<Alarm> alarm = look();
    if (!alarm) continue;
    lock.unlock();
    on_alarm_(*alarm);
    return;
  }
}

std::optional<Watchdog::Alarm> Watchdog::look() {
  const std::int64_t now_ns = SteadyClock::now();
  const std::int64_t progress = progress_.load(std::memory_order_relaxed);
  if (progress != seen_progress_ || progress == kWatchedElsewhere) {
    seen_progress_ = progress;
    seen_at_ns_ = now_ns;
  }
  const int departed = rendezvous_.departed_rank();
  departed_looks_ = departed < 0 ? 0 : departed_looks_ + 1;
  if (departed_looks_ >= kDepartedLooks) {
    return Alarm{case_id_, "rank " + std::to_string(departed) + " went away", kExitFailure};
  }
  if (now_ns - seen_at_ns_ < timeout_ns_ + extra_ns_) return std::nullopt;
  return Alarm{case_id_,
               "no progress for " + seconds_text(now_ns - seen_at_ns_) + " (case_timeout is " +
                   seconds_text(timeout_ns_) + ")",
               kExitWatchdog};
}

}  // namespace fabriscope
