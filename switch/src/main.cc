#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "ask.h"
#include "netns.h"
#include "priority.h"
#include "settings.h"
#include "switchboard.h"

namespace {

using fabriscope::lab::throw_errno;
using fabriscope::lab::UniqueFd;

constexpr std::size_t kAskWords = 3;

UniqueFd listen_for_control(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    throw std::invalid_argument("the path of the control socket is too long: " + path);
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  ::umask(0077);
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw_errno("bind " + path);
  if (::listen(socket.get(), 4) != 0) throw_errno("listen on " + path);
  return socket;
}

int ask(const std::string& path, const std::string& request) {
  const std::string answer = fabriscope::lab::answer_of(path, request);
  const std::string refusal = fabriscope::lab::refusal_in(answer);
  if (!refusal.empty()) {
    std::fprintf(stderr, "%s\n", refusal.c_str());
    return 1;
  }
  std::fputs(answer.c_str(), stdout);
  return 0;
}

UniqueFd watch_for_signals() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, nullptr);
  return UniqueFd(::signalfd(-1, &ends, SFD_CLOEXEC));
}

}  // namespace

int main(int argument_count, char** arguments) {
  using namespace fabriscope::lab;
  const std::vector<std::string> words(arguments + 1, arguments + argument_count);
  if (words.size() == 1 && (words[0] == "--help" || words[0] == "-h")) {
    std::fputs(kUsage, stdout);
    return 0;
  }
  try {
    if (words.size() == kAskWords && words[0] == "--ask") return ask(words[1], words[2]);
    const Settings settings = read_settings(words);
    const UniqueFd stop = watch_for_signals();
    Switchboard switchboard(settings);
    const UniqueFd control = listen_for_control(settings.control_path);
    if (settings.realtime) ask_for_priority();
    std::puts("ready");
    std::fflush(stdout);
    switchboard.run(stop.get(), control.get());
    std::puts(switchboard.counters_json().c_str());
    return 0;
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "fabriscope-switch: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fabriscope-switch: %s\n", error.what());
    return 1;
  }
}
