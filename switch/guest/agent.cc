// What runs commands on a host for those who are elsewhere: process 1 of a guest with a kernel of
// its own, or a process of a host made of namespaces that guests must reach.
//
// usage: fabriscope-agent ADDRESS [ENVIRONMENT_FILE]
// As process 1 it makes the guest first, by the variables FABRISCOPE_GUEST (the lab's folder),
// FABRISCOPE_HOST and FABRISCOPE_ADDRESS, which the kernel takes from its own command line.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/reboot.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "boot.h"
#include "protocol.h"
#include "request.h"

extern char** environ;

namespace fabriscope::guest {
namespace {

// A program that writes faster than its output is taken has to wait.
constexpr std::size_t kMaximumWaitingBytes = 1U << 20;
constexpr std::size_t kMaximumCommands = 512;

[[noreturn]] void fail(const std::string& attempted) {
  throw std::system_error(errno, std::generic_category(), attempted);
}

std::vector<char*> pointers(Words& words) {
  std::vector<char*> found;
  for (std::string& word : words) found.push_back(word.data());
  found.push_back(nullptr);
  return found;
}

void set_variable(Words& variables, const std::string& wanted) {
  const std::string head = wanted.substr(0, wanted.find('=') + 1);
  variables.erase(
      std::remove_if(variables.begin(), variables.end(),
                     [&head](const std::string& one) { return one.rfind(head, 0) == 0; }),
      variables.end());
  variables.push_back(wanted);
}

// Never returns. A program that appeared on the machine after somebody here had looked for it in
// vain is found once the kernel has forgotten that.
[[noreturn]] void become(Request request, const Words& overrides) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 1; number < NSIG; ++number) std::signal(number, SIG_DFL);
  for (const std::string& wanted : overrides) set_variable(request.variables, wanted);
  const std::vector<char*> words = pointers(request.words);
  const std::vector<char*> variables = pointers(request.variables);
  environ = const_cast<char**>(variables.data());
  for (const bool is_again : {false, true}) {
    if (is_again) {
      if (errno != ENOENT || ::getpid() == 1) break;
      std::ofstream("/proc/sys/vm/drop_caches") << "2\n";
    }
    if (::chdir(request.folder.c_str()) != 0 && ::chdir("/") != 0) break;
    ::execvp(words[0], words.data());
  }
  const int status = errno == ENOENT ? 127 : 126;
  std::fprintf(stderr, "%s: cannot be started: %s\n", words[0], std::strerror(errno));
  std::fflush(stderr);
  ::_exit(status);
}

struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() {
    if (::pipe2(ends, O_CLOEXEC) != 0) fail("make a pipe");
  }
};

// One command: its processes, and whoever wants it.
class Command {
 public:
  Command(int descriptor, const Words& overrides)
      : connection_(descriptor), overrides_(overrides) {}
  Command(const Command&) = delete;
  Command& operator=(const Command&) = delete;
  ~Command() {
    // Whoever wanted it is gone, or has its status: then what it left behind stays.
    if (leader_ > 0 && !has_ended_) ::kill(-leader_, SIGKILL);
    for (const int pipe : {input_, outputs_[0], outputs_[1]})
      if (pipe >= 0) ::close(pipe);
  }

  pid_t leader() const { return leader_; }
  bool is_over() const { return is_over_; }

  void add_to(std::vector<pollfd>& watched) const {
    const auto socket_events =
        static_cast<short>(POLLIN | (connection_.has_output() ? POLLOUT : 0));
    watched.push_back({connection_.descriptor(), socket_events, 0});
    const bool may_write = connection_.output_bytes() < kMaximumWaitingBytes;
    watched.push_back({waiting_input_.empty() ? -1 : input_, POLLOUT, 0});
    for (const int pipe : outputs_) watched.push_back({may_write ? pipe : -1, POLLIN, 0});
  }

  // `seen` are the four that add_to() added.
  void serve(const pollfd* seen) {
    if ((seen[0].revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
      if (!connection_.read_some()) is_over_ = true;
      bool is_garbled = false;
      while (const auto message = connection_.take(is_garbled)) obey(*message);
      is_over_ = is_over_ || is_garbled;
    }
    if (seen[1].revents != 0) feed();
    for (const int which : {0, 1})
      if (seen[2 + which].revents != 0) pass_on(which);
    if (!connection_.write_some()) is_over_ = true;
    if (is_finished_ && !connection_.has_output()) is_over_ = true;
  }

  // Its first process has ended: what it wrote is passed on, and then its status.
  void ended(int status) {
    has_ended_ = true;
    for (const int which : {0, 1})
      while (outputs_[which] >= 0 && pass_on(which)) {
      }
    const bool is_killed = WIFSIGNALED(status);
    connection_.send(is_killed ? kKilled : kExited,
                     std::to_string(is_killed ? WTERMSIG(status) : WEXITSTATUS(status)));
    is_finished_ = true;
    if (!connection_.write_some() || !connection_.has_output()) is_over_ = true;
  }

 private:
  void obey(const Message& message) {
    if (message.kind == kRun && leader_ == 0) {
      start(read_request(message.content));
    } else if (message.kind == kInput && input_ >= 0) {
      if (waiting_input_.size() + message.content.size() > kInputWindowBytes)
        throw std::invalid_argument("more input than the window has room for");
      waiting_input_ += message.content;
      if (message.content.empty()) is_input_over_ = true;
      feed();
    } else if (message.kind == kSignal && leader_ > 0 && !has_ended_) {
      const auto number = whole_number(message.content, NSIG - 1);
      if (!number) throw std::invalid_argument("no signal has that number");
      ::kill(-leader_, static_cast<int>(*number));
    } else if (message.kind == kEndAll && leader_ == 0) {
      if (::getpid() == 1) ::kill(-1, SIGKILL);
      connection_.send(kExited, "0");
      is_finished_ = true;
    }
  }

  void start(Request request) {
    const Pipe input;
    const Pipe output;
    const Pipe errors;
    leader_ = ::fork();
    if (leader_ < 0) fail("start a process");
    if (leader_ == 0) {
      ::setsid();
      ::dup2(input.ends[0], 0);
      ::dup2(output.ends[1], 1);
      ::dup2(errors.ends[1], 2);
      become(std::move(request), overrides_);
    }
    for (const int end : {input.ends[0], output.ends[1], errors.ends[1]}) ::close(end);
    input_ = input.ends[1];
    outputs_ = {output.ends[0], errors.ends[0]};
    for (const int end : {input_, outputs_[0], outputs_[1]}) ::fcntl(end, F_SETFL, O_NONBLOCK);
  }

  void feed() {
    std::size_t taken = 0;
    while (taken < waiting_input_.size()) {
      const ssize_t size =
          ::write(input_, waiting_input_.data() + taken, waiting_input_.size() - taken);
      if (size < 0 && (errno == EAGAIN || errno == EINTR)) break;
      // A program that does not want its input any more is no mistake.
      if (size < 0) is_input_over_ = true;
      taken = size < 0 ? waiting_input_.size() : taken + static_cast<std::size_t>(size);
    }
    waiting_input_.erase(0, taken);
    if (taken > 0) connection_.send(kTaken, std::to_string(taken));
    if (!waiting_input_.empty() || !is_input_over_) return;
    ::close(input_);
    input_ = -1;
  }

  // Returns whether anything was there.
  bool pass_on(int which) {
    std::string piece(kPieceBytes, '\0');
    const ssize_t size = ::read(outputs_[which], piece.data(), piece.size());
    if (size > 0) {
      piece.resize(static_cast<std::size_t>(size));
      connection_.send(which == 0 ? kOutput : kErrors, piece);
      return true;
    }
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    ::close(outputs_[which]);
    outputs_[which] = -1;
    return false;
  }

  Connection connection_;
  const Words& overrides_;
  pid_t leader_ = 0;
  int input_ = -1;
  std::array<int, 2> outputs_{-1, -1};
  std::string waiting_input_;
  bool is_input_over_ = false;
  bool has_ended_ = false;    // its first process
  bool is_finished_ = false;  // its status is on its way
  bool is_over_ = false;
};

int listen_on(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) != 1)
    throw std::invalid_argument(text + " is no IPv4 address");
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const int on = 1;
  ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    fail("bind to " + text);
  if (::listen(listener, 128) != 0) fail("listen on " + text);
  return listener;
}

// The other end may vanish with its kernel; a command that nobody wants any more has to end.
void notice_silence(int socket) {
  const int on = 1;
  const int idle_s = 5;
  const int interval_s = 5;
  const int count = 6;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
}

Words read_lines(const std::string& path) {
  Words lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.find('=') != std::string::npos) lines.push_back(line);
  return lines;
}

void reap(std::vector<std::unique_ptr<Command>>& commands) {
  int status = 0;
  for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [child](const auto& one) { return one->leader() == child; });
    if (found != commands.end()) (*found)->ended(status);
  }
}

void serve(int listener, int signals, const Words& overrides) {
  std::vector<std::unique_ptr<Command>> commands;
  while (true) {
    const bool has_room = commands.size() < kMaximumCommands;
    std::vector<pollfd> watched{{has_room ? listener : -1, POLLIN, 0}, {signals, POLLIN, 0}};
    for (const auto& command : commands) command->add_to(watched);
    if (::poll(watched.data(), watched.size(), -1) < 0) continue;
    for (std::size_t index = 0; index < commands.size(); ++index) {
      try {
        commands[index]->serve(&watched[2 + 4 * index]);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "fabriscope-agent: a command was refused: %s\n", error.what());
        commands[index].reset();
      }
    }
    commands.erase(std::remove_if(commands.begin(), commands.end(),
                                  [](const auto& one) { return !one || one->is_over(); }),
                   commands.end());
    if (watched[1].revents != 0) {
      signalfd_siginfo signal{};
      while (::read(signals, &signal, sizeof signal) > 0) {
      }
      reap(commands);
    }
    if (watched[0].revents != 0) {
      const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
      if (socket < 0) continue;
      notice_silence(socket);
      commands.push_back(std::make_unique<Command>(socket, overrides));
    }
  }
}

int run(const std::string& address, const std::string& environment_file) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &ends, nullptr);
  const int signals = ::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK);
  const Words overrides = read_lines(environment_file);
  const int listener = listen_on(address);
  std::printf("fabriscope-agent: ready\n");
  std::fflush(stdout);
  serve(listener, signals, overrides);
  return 0;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

}  // namespace
}  // namespace fabriscope::guest

int main(int argument_count, char** arguments) {
  using namespace fabriscope::guest;
  const bool is_init = ::getpid() == 1;
  try {
    if (is_init) {
      const BootSettings settings{variable("FABRISCOPE_GUEST"), variable("FABRISCOPE_HOST")};
      boot(settings);
      return run(variable("FABRISCOPE_ADDRESS"), settings.folder + "/" + settings.host + ".env");
    }
    if (argument_count < 2 || argument_count > 3) {
      std::fprintf(stderr, "usage: fabriscope-agent ADDRESS [ENVIRONMENT_FILE]\n");
      return 2;
    }
    return run(arguments[1], argument_count == 3 ? arguments[2] : "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fabriscope-agent: %s\n", error.what());
    std::fflush(stderr);
    if (is_init) ::reboot(RB_POWER_OFF);
    return 1;
  }
}
