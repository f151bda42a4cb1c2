#include "entrance.h"

#include <arpa/inet.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <system_error>
#include <utility>

#include "../interrupt.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// A connection that is not made by then met a full queue, or a host that is not there.
constexpr std::int64_t kAttemptNs = 3'000'000'000;
constexpr std::int64_t kRetryNs = 100'000'000;
constexpr int kAnswerPollMs = 200;

bool may_pass(const std::error_code& code) {
  return code == std::errc::connection_refused || code == std::errc::connection_reset ||
         code == std::errc::connection_aborted || code == std::errc::timed_out ||
         code == std::errc::broken_pipe;
}

std::string greeting_of(const Call& call) {
  const std::string text = call.token + '\n' + call.purpose;
  if (text.size() > kMaxGreetingBytes) {
    throw UsageError("the run's token is longer than " +
                     std::to_string(kMaxGreetingBytes - call.purpose.size() - 1) + " bytes");
  }
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(text.size()));
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

// False where the connection was dropped; errno says how.
bool receive_answer(int fd, char* answer, std::int64_t deadline_ns) {
  std::size_t received = 0;
  while (received < kVerdictBytes) {
    throw_if_interrupted();
    if (SteadyClock::now() > deadline_ns) {
      errno = ETIMEDOUT;
      return false;
    }
    pollfd waiting{fd, POLLIN, 0};
    ::poll(&waiting, 1, kAnswerPollMs);
    const ssize_t count = ::recv(fd, answer + received, kVerdictBytes - received, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) continue;
    if (count == 0) errno = ECONNRESET;
    if (count <= 0) return false;
    received += static_cast<std::size_t>(count);
  }
  return true;
}

// Returns when the connection was let in; throws std::system_error where it was dropped.
void present_token(int fd, const Call& call, std::int64_t deadline_ns) {
  const std::string text = greeting_of(call);
  char answer[kVerdictBytes];
  const bool is_sent =
      ::send(fd, text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
  if (!is_sent || !receive_answer(fd, answer, deadline_ns)) {
    throw system_failure("be let in at " + call.address.text());
  }
  if (std::memcmp(answer, kWelcome, kVerdictBytes) == 0) return;
  if (std::memcmp(answer, kRefused, kVerdictBytes) == 0) {
    throw RunError(call.address.text() +
                   " refuses this process: its token is not the run's -- set the same "
                   "FABRISCOPE_TOKEN at every rank");
  }
  throw RunError("what listens at " + call.address.text() + " is no rank of this run");
}

}  // namespace

UniqueFd dial(const Call& call, std::int64_t timeout_ns) {
  UniqueFd fd = call.make_socket();
  try {
    connect_within(fd.get(), call.address, std::min(timeout_ns, kAttemptNs));
  } catch (const std::system_error& error) {
    if (!may_pass(error.code())) throw;
    return {};
  }
  return fd;
}

UniqueFd enter(const Call& call, UniqueFd fd, std::int64_t timeout_ns) {
  const std::int64_t deadline_ns = SteadyClock::now() + timeout_ns;
  for (;;) {
    try {
      if (!fd) {
        fd = call.make_socket();
        const std::int64_t left_ns = deadline_ns - SteadyClock::now();
        connect_within(fd.get(), call.address, std::min(left_ns, kAttemptNs));
      }
      present_token(fd.get(), call, deadline_ns);
      return fd;
    } catch (const std::system_error& error) {
      if (!may_pass(error.code()) || SteadyClock::now() + kRetryNs > deadline_ns) throw;
    }
    fd = {};
    const timespec pause{0, kRetryNs};
    nanosleep(&pause, nullptr);
    throw_if_interrupted();
  }
}

}  // namespace fabriscope
