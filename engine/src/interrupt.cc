#include "interrupt.h"

#include <signal.h>

#include <initializer_list>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

volatile sig_atomic_t pending_signal = 0;

extern "C" void remember_signal(int signal_number) { pending_signal = signal_number; }

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
}

int interrupting_signal() { return pending_signal; }

void throw_if_interrupted() {
  if (pending_signal != 0) throw Interrupted(pending_signal);
}

}  // namespace fabriscope
