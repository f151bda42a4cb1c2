#include "ask.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "unique_fd.h"

namespace fabriscope::lab {
namespace {

constexpr std::chrono::seconds kPatience{5};
constexpr std::chrono::milliseconds kPause{20};
constexpr const char kError[] = "{\"error\":\"";

// Nothing where the switch let go of us unheard: who is slow to ask finds the door closed.
std::string asked(const std::string& path, const std::string& request) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::invalid_argument("the path of the control socket is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{kPatience.count(), 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    throw std::runtime_error("no switch listens at " + path + ": " + std::strerror(errno));
  const std::string line = request + "\n";
  if (::send(socket.get(), line.data(), line.size(), MSG_NOSIGNAL) < 0) return "";
  std::string answer;
  std::array<char, 4096> part{};
  while (true) {
    const ssize_t size = ::recv(socket.get(), part.data(), part.size(), 0);
    if (size <= 0) return size == 0 ? answer : "";
    answer.append(part.data(), static_cast<std::size_t>(size));
  }
}

}  // namespace

std::string answer_of(const std::string& path, const std::string& request) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    std::string answer = asked(path, request);
    if (!answer.empty()) return answer;
    if (std::chrono::steady_clock::now() > deadline)
      throw std::runtime_error("the switch at " + path + " does not answer");
    std::this_thread::sleep_for(kPause);
  }
}

std::string refusal_in(const std::string& answer) {
  if (answer.rfind(kError, 0) != 0) return "";
  std::string text;
  for (std::size_t at = sizeof kError - 1; at < answer.size() && answer[at] != '"'; ++at) {
    if (answer[at] == '\\' && at + 1 < answer.size()) ++at;
    text += answer[at];
  }
  return text;
}

}  // namespace fabriscope::lab
