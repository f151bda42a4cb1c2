// What providers do to a process' signals, undone.
#pragma once

#include <signal.h>

#include <array>
#include <cstddef>
#include <mutex>

namespace fabriscope {

// As long as this lives, one thread at a time; then what each signal does is again what it did
// before. Providers that are loaded, asked for or not, set handlers of their own: with those of
// PSM2 a SIGTERM ends the process at once and without a word.
class KeptSignals {
 public:
  KeptSignals() : lock_(mutex()) {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &actions_[i]);
  }
  ~KeptSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &actions_[i], nullptr);
  }
  KeptSignals(const KeptSignals&) = delete;
  KeptSignals& operator=(const KeptSignals&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }

  static constexpr std::array kSignals{SIGINT,  SIGTERM, SIGHUP, SIGPIPE,
                                       SIGSEGV, SIGBUS,  SIGILL, SIGABRT};
  std::lock_guard<std::mutex> lock_;
  std::array<struct sigaction, kSignals.size()> actions_{};
};

}  // namespace fabriscope
