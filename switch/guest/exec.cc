// Runs a command on a host of the lab that has an agent: standard streams, signals, variables,
// working folder and exit status are as if it ran here.
//
// usage: fabriscope-guest-exec [--pid-file PATH] [--console PATH] [--end-all] HOST ADDRESS
// [COMMAND...] With a pid file (of the guest's kernel) its death is noticed at once; the end of the
// console is then told, and the exit status is 255, as ssh has it for a host that is gone.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "protocol.h"

extern char** environ;

namespace fabriscope::guest {
namespace {

constexpr int kGoneStatus = 255;
constexpr int kConnectTimeoutMs = 10'000;
constexpr std::size_t kConsoleLines = 3;
constexpr std::array<int, 7> kPassedSignals{SIGHUP,  SIGINT,  SIGQUIT, SIGTERM,
                                            SIGUSR1, SIGUSR2, SIGCONT};

struct Settings {
  std::string pid_file;
  std::string console;
  std::string host;
  std::string address;
  bool end_all = false;
  std::vector<std::string> words;
};

Settings read_settings(const std::vector<std::string>& arguments) {
  Settings settings;
  std::size_t next = 0;
  for (; next < arguments.size() && arguments[next].rfind("--", 0) == 0; ++next) {
    const std::string& option = arguments[next];
    if (option == "--end-all") {
      settings.end_all = true;
      continue;
    }
    if (next + 1 == arguments.size()) throw std::invalid_argument(option + " needs a value");
    std::string& place = option == "--pid-file"  ? settings.pid_file
                         : option == "--console" ? settings.console
                                                 : throw std::invalid_argument("unknown " + option);
    place = arguments[++next];
  }
  if (arguments.size() < next + 2) throw std::invalid_argument("HOST and ADDRESS are missing");
  settings.host = arguments[next];
  settings.address = arguments[next + 1];
  settings.words.assign(arguments.begin() + static_cast<std::ptrdiff_t>(next) + 2, arguments.end());
  if (settings.words.empty() != settings.end_all)
    throw std::invalid_argument("a command is missing");
  return settings;
}

// The host is gone, or was never there.
class Gone : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The line that says why its kernel gave up, if it did, and the last ones.
std::string last_lines(const std::string& path) {
  std::ifstream file(path);
  std::deque<std::string> lines;
  std::string cause;
  for (std::string line; std::getline(file, line);) {
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.find("Kernel panic") != std::string::npos) cause = line + " | ";
    if (!line.empty()) lines.push_back(line);
    if (lines.size() > kConsoleLines) lines.pop_front();
  }
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " | ") + line;
  return text.empty() ? "" : "; its console says: " + cause + text;
}

// Returns a descriptor that becomes readable when the guest's kernel ends; -1 without a pid file.
int watch_kernel(const Settings& settings) {
  if (settings.pid_file.empty()) return -1;
  int pid = 0;
  std::ifstream(settings.pid_file) >> pid;
  const int handle = pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1;
  if (handle < 0) throw Gone("its kernel has ended");
  return handle;
}

int connect_to(const Settings& settings, int kernel) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kPort);
  if (::inet_pton(AF_INET, settings.address.c_str(), &address.sin_addr) != 1)
    throw std::invalid_argument(settings.address + " is no IPv4 address");
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 &&
      errno != EINPROGRESS) {
    throw Gone(std::string("it cannot be reached: ") + std::strerror(errno));
  }
  std::array<pollfd, 2> watched{{{socket, POLLOUT, 0}, {kernel, POLLIN, 0}}};
  const int ready = ::poll(watched.data(), watched.size(), kConnectTimeoutMs);
  if (watched[1].revents != 0) throw Gone("its kernel has ended");
  int error = ready > 0 ? 0 : ETIMEDOUT;
  socklen_t size = sizeof error;
  if (ready > 0) ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) throw Gone(std::string("it does not answer: ") + std::strerror(error));
  const int on = 1;
  const int silence_ms = 30'000;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence_ms, sizeof silence_ms);
  for (const int option : {TCP_KEEPIDLE, TCP_KEEPINTVL}) {
    const int seconds = 5;
    ::setsockopt(socket, IPPROTO_TCP, option, &seconds, sizeof seconds);
  }
  return socket;
}

std::string request_text(const std::vector<std::string>& words) {
  std::array<char, 4096> folder{};
  std::string text = ::getcwd(folder.data(), folder.size()) != nullptr ? folder.data() : "/";
  text += '\0' + std::to_string(words.size()) + '\0';
  for (const std::string& word : words) text += word + '\0';
  for (char** variable = environ; *variable != nullptr; ++variable)
    text += std::string(*variable) + '\0';
  return text;
}

void write_all(int descriptor, const std::string& content) {
  for (std::size_t written = 0; written < content.size();) {
    const ssize_t size = ::write(descriptor, content.data() + written, content.size() - written);
    if (size < 0 && errno == EAGAIN) {
      pollfd wait{descriptor, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    } else if (size < 0 && errno != EINTR) {
      return;  // nobody reads it any more, which the program need not know
    } else if (size > 0) {
      written += static_cast<std::size_t>(size);
    }
  }
}

class Session {
 public:
  Session(const Settings& settings, int kernel, int signals)
      : connection_(connect_to(settings, kernel)), kernel_(kernel), signals_(signals) {
    if (settings.end_all) {
      connection_.send(kEndAll, "");
    } else {
      connection_.send(kRun, request_text(settings.words));
    }
    if (settings.end_all) has_input_ = false;
  }

  // Returns the exit status, negative for the signal that ended the command. Throws Gone.
  int run() {
    while (!is_finished_) {
      const bool wants_input = has_input_ && window_bytes_ > 0;
      const auto socket_events =
          static_cast<short>(POLLIN | (connection_.has_output() ? POLLOUT : 0));
      std::array<pollfd, 4> watched{{{connection_.descriptor(), socket_events, 0},
                                     {wants_input ? 0 : -1, POLLIN, 0},
                                     {signals_, POLLIN, 0},
                                     {kernel_, POLLIN, 0}}};
      if (::poll(watched.data(), watched.size(), -1) < 0) continue;
      if (watched[2].revents != 0) pass_signal_on();
      if (watched[1].revents != 0) read_input();
      const bool is_open = serve_connection(watched[0].revents);
      if (is_finished_) break;
      if (!is_open) throw Gone("it broke the connection off");
      if (watched[3].revents != 0) throw Gone("its kernel has ended");
    }
    return status_;
  }

 private:
  bool serve_connection(short events) {
    const bool can_read = (events & (POLLIN | POLLHUP | POLLERR)) == 0 || connection_.read_some();
    bool is_garbled = false;
    while (const auto message = connection_.take(is_garbled)) obey(*message);
    return can_read && !is_garbled && connection_.write_some();
  }

  void obey(const Message& message) {
    const auto number = [&message] { return std::atoi(message.content.c_str()); };
    if (message.kind == kOutput) write_all(1, message.content);
    if (message.kind == kErrors) write_all(2, message.content);
    if (message.kind == kTaken) window_bytes_ += static_cast<std::size_t>(number());
    if (message.kind != kExited && message.kind != kKilled) return;
    status_ = message.kind == kKilled ? -number() : number();
    is_finished_ = true;
  }

  void read_input() {
    std::string piece(std::min(window_bytes_, kPieceBytes), '\0');
    const ssize_t size = ::read(0, piece.data(), piece.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    piece.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    window_bytes_ -= piece.size();
    has_input_ = !piece.empty();
    connection_.send(kInput, piece);
  }

  void pass_signal_on() {
    signalfd_siginfo signal{};
    while (::read(signals_, &signal, sizeof signal) > 0)
      connection_.send(kSignal, std::to_string(signal.ssi_signo));
  }

  Connection connection_;
  int kernel_;
  int signals_;
  std::size_t window_bytes_ = kInputWindowBytes;
  bool has_input_ = true;
  bool is_finished_ = false;
  int status_ = 0;
};

// Ends as the command did.
int end_like(int status) {
  if (status >= 0) return status;
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(-status, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::raise(-status);
  return 128 - status;
}

}  // namespace
}  // namespace fabriscope::guest

int main(int argument_count, char** arguments) {
  using namespace fabriscope::guest;
  Settings settings;
  try {
    settings = read_settings({arguments + 1, arguments + argument_count});
  } catch (const std::exception& error) {
    std::fprintf(stderr,
                 "fabriscope-guest-exec: %s\nusage: fabriscope-guest-exec [--pid-file PATH]"
                 " [--console PATH] [--end-all] HOST ADDRESS [COMMAND...]\n",
                 error.what());
    return 2;
  }
  sigset_t passed;
  sigemptyset(&passed);
  for (const int number : kPassedSignals) sigaddset(&passed, number);
  ::sigprocmask(SIG_BLOCK, &passed, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const int signals = ::signalfd(-1, &passed, SFD_CLOEXEC | SFD_NONBLOCK);
    return end_like(Session(settings, watch_kernel(settings), signals).run());
  } catch (const std::exception& error) {
    const std::string console = settings.console.empty() ? "" : last_lines(settings.console);
    std::fprintf(stderr, "host %s: %s%s\n", settings.host.c_str(), error.what(), console.c_str());
    return kGoneStatus;
  }
}
