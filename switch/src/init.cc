// What a lab's keeper and its hosts run: it waits, reaps what is orphaned, and ends when it must.
//
// usage: fabriscope-init [--owner-pipe FD]
// With --owner-pipe it ends as soon as the other end of the pipe is closed, that is when the owner
// died, however it died. As process 1 of a PID namespace its end is the end of everything in it.
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argument_count, char** arguments) {
  int owner_pipe = -1;
  if (argument_count == 3 && std::strcmp(arguments[1], "--owner-pipe") == 0) {
    owner_pipe = std::atoi(arguments[2]);
  } else if (argument_count != 1) {
    std::fprintf(stderr, "usage: fabriscope-init [--owner-pipe FD]\n");
    return 2;
  }
  sigset_t watched;
  sigfillset(&watched);
  sigprocmask(SIG_SETMASK, &watched, nullptr);
  const int signals = ::signalfd(-1, &watched, SFD_CLOEXEC);
  if (signals < 0) {
    std::perror("fabriscope-init: signalfd");
    return 1;
  }
  ::prctl(PR_SET_NAME, "fabriscope-init");
  pollfd watch[2] = {{signals, POLLIN, 0}, {owner_pipe, POLLIN, 0}};
  while (true) {
    if (::poll(watch, owner_pipe >= 0 ? 2 : 1, -1) < 0) continue;
    if (watch[1].revents != 0 && owner_pipe >= 0) return 0;
    signalfd_siginfo signal{};
    if ((watch[0].revents & POLLIN) == 0 || ::read(signals, &signal, sizeof signal) < 0) continue;
    if (signal.ssi_signo == SIGCHLD) {
      while (::waitpid(-1, nullptr, WNOHANG) > 0) {
      }
    } else if (signal.ssi_signo == SIGTERM) {
      return 0;
    }
  }
}
