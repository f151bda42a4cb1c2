#include "awake.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <limits>

#include "clock.h"

namespace fabriscope::lab {
namespace {

constexpr std::size_t kMaximumCores = 16;
// When the thread did not get its core for this long, others need it all: it steps aside.
constexpr std::int64_t kBusyGapNs = 500'000;
constexpr timespec kStepAside{0, 20'000'000};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) {
  static_assert(sizeof word == sizeof(std::uint32_t), "a futex is 32 bits");
  ::syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}

// Confines this thread to one core, and to the time that nobody else wants there.
bool give_way(int core) {
  ::prctl(PR_SET_NAME, "switch-awake");
  cpu_set_t cores;
  CPU_ZERO(&cores);
  CPU_SET(core, &cores);
  const sched_param parameters{};
  return ::sched_setscheduler(0, SCHED_IDLE, &parameters) == 0 &&
         ::sched_setaffinity(0, sizeof cores, &cores) == 0;
}

}  // namespace

Awake::Awake(bool enabled) {
  cpu_set_t cores;
  if (!enabled || ::sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  for (int core = 0; core < CPU_SETSIZE && threads_.size() < kMaximumCores; ++core) {
    if (CPU_ISSET(core, &cores)) threads_.emplace_back([this, core] { work(core); });
  }
}

Awake::~Awake() {
  stop_ = true;
  wake_all();
  for (std::thread& thread : threads_) thread.join();
}

void Awake::wake_all() {
  ++calls_;
  futex(calls_, FUTEX_WAKE, std::numeric_limits<int>::max());
}

void Awake::extend(std::int64_t until_ns, std::int64_t now_ns) {
  // While the threads are up they look at the time by themselves.
  const std::int64_t before_ns = until_ns_.exchange(until_ns);
  if (before_ns <= now_ns && !threads_.empty()) wake_all();
}

void Awake::work(int core) {
  if (!give_way(core)) return;
  while (!stop_) {
    const std::uint32_t call = calls_;
    std::int64_t last_ns = monotonic_ns();
    while (!stop_ && last_ns < until_ns_) {
      for (int round = 0; round < 16; ++round) relax();
      const std::int64_t now_ns = monotonic_ns();
      if (now_ns - last_ns > kBusyGapNs)
        ::clock_nanosleep(CLOCK_MONOTONIC, 0, &kStepAside, nullptr);
      last_ns = monotonic_ns();
    }
    if (!stop_) futex(calls_, FUTEX_WAIT, call);
  }
}

}  // namespace fabriscope::lab
