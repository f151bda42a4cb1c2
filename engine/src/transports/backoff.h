// Waiting for another rank on the same host, which may be on this very core.
#pragma once

#include <sched.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace fabriscope {

// Looks again and again while the other one is about to answer; then gives the core away between
// looks, so that two ranks on one core hand it to each other; and after a long time in vain sleeps
// between looks, so that a rank that waits for a dead one does not heat the host.
class Backoff {
 public:
  void wait() {
    if (looks_ < kSpins) {
      pause();
    } else if (looks_ < kYields) {
      sched_yield();
    } else {
      const timespec nap{0, kNapNs};
      nanosleep(&nap, nullptr);
      return;
    }
    ++looks_;
  }

 private:
  static constexpr int kSpins = 200;
  static constexpr int kYields = 200'000;  // a tenth of a second at least
  static constexpr long kNapNs = 50'000;

  static void pause() {
#if defined(__x86_64__)
    _mm_pause();
#endif
  }

  int looks_ = 0;
};

}  // namespace fabriscope
