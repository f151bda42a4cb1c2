#include "interrupt.h"

#include <signal.h>

#include <atomic>
#include <initializer_list>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// Not a sig_atomic_t: the handler runs in one of our threads, and others read.
std::atomic<int> pending_signal{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler must not take a lock");

extern "C" void remember_signal(int signal_number) {
  pending_signal.store(signal_number, std::memory_order_relaxed);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  // No SA_RESTART: a wait has to return to notice. SA_RESETHAND: the second signal ends us.
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    sigaction(signal_number, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

int interrupting_signal() { return pending_signal.load(std::memory_order_relaxed); }

void throw_if_interrupted() {
  const int signal_number = interrupting_signal();
  if (signal_number != 0) throw Interrupted(signal_number);
}

}  // namespace fabriscope
