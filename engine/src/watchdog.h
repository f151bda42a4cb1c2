// Ends a run that no longer moves, or whose peer is gone, whatever the main thread waits for.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "fabriscope/rendezvous.h"

namespace fabriscope {

class Watchdog {
 public:
  struct Alarm {
    std::optional<std::string> case_id;
    std::string reason;
    int exit_code;
  };
  using Handler = std::function<void(const Alarm&)>;

  // `on_alarm` runs in the watchdog's thread, at most once, and usually does not return.
  Watchdog(Rendezvous& rendezvous, std::int64_t timeout_ns, Handler on_alarm);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  // Watches from construction to destruction; for the time inside a case. `extra_ns` is for work
  // that has a time limit of its own and should be left to meet it.
  class Guard {
   public:
    Guard(Watchdog& watchdog, std::optional<std::string> case_id, std::int64_t extra_ns = 0)
        : watchdog_(watchdog) {
      watchdog_.arm(std::move(case_id), extra_ns);
    }
    ~Guard() { watchdog_.disarm(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;

   private:
    Watchdog& watchdog_;
  };

  // Whoever works inside a case changes it; as long as it changes, or is kWatchedElsewhere, all is
  // well.
  std::atomic<std::int64_t>& progress() { return progress_; }

 private:
  void arm(std::optional<std::string> case_id, std::int64_t extra_ns);
  void disarm();
  void watch();
  std::optional<Alarm> look();

  Rendezvous& rendezvous_;
  std::int64_t timeout_ns_;
  Handler on_alarm_;
  std::atomic<std::int64_t> progress_{0};

  std::mutex mutex_;
  std::condition_variable wake_;
  bool watching_ = false;
  bool stopping_ = false;
  bool armed_ = false;
  std::optional<std::string> case_id_;
  std::int64_t extra_ns_ = 0;
  std::int64_t seen_progress_ = 0;
  std::int64_t seen_at_ns_ = 0;
  int departed_looks_ = 0;

  std::thread thread_;  // last: it uses all of the above
};

}  // namespace fabriscope
