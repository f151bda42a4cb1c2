// The other side of a TokenGate: who connects, presents the run's token and waits to be let in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "socket.h"

namespace fabriscope {

// A greeting is a length of 4 bytes and what it counts; the gate answers it before anything else.
constexpr std::size_t kVerdictBytes = 8;
constexpr std::size_t kMaxGreetingBytes = 1024;
constexpr char kWelcome[kVerdictBytes + 1] = "welcome\n";
constexpr char kRefused[kVerdictBytes + 1] = "refused\n";

struct Call {
  std::function<UniqueFd()> make_socket;
  SocketAddress address;
  std::string token;
  std::string purpose;
};

// A connection that has said nothing yet; none where it could not be made within a few seconds but
// might be later: nobody listens yet, or the queue is full of strangers. Throws std::system_error
// for what will not pass.
UniqueFd dial(const Call& call, std::int64_t timeout_ns);

// The connection, once it was let in. `fd` is what dial() returned. Dials again where the
// connection was dropped unheard, until the limit. Throws std::system_error past it, RunError where
// the token is refused or something else listens there, Interrupted on a signal.
UniqueFd enter(const Call& call, UniqueFd fd, std::int64_t timeout_ns);

}  // namespace fabriscope
