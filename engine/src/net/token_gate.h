// Lets in only those who know the run's token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "unique_fd.h"

namespace fabriscope {

struct Greeted {
  UniqueFd fd;
  std::string purpose;
};

// Accepts on a listening socket. Strangers neither hold up those who come after them nor cost more
// than a few hundred bytes each: every connection has its own short time limit, many are heard at
// once, and what is said before the token is bounded.
class TokenGate {
 public:
  TokenGate(int listener, std::string token);
  ~TokenGate();
  TokenGate(const TokenGate&) = delete;
  TokenGate& operator=(const TokenGate&) = delete;

  // The next connection that presented the token. Throws std::system_error (ETIMEDOUT) past the
  // limit and Interrupted on a signal.
  Greeted next(std::int64_t timeout_ns);

  std::int64_t rejected_connection_count() const { return rejected_connection_count_; }
  // Drops those still undecided and whoever waits in the queue, and counts them.
  void close();

 private:
  struct Guest {
    UniqueFd fd;
    std::string heard;
    std::int64_t deadline_ns;
  };
  enum class Verdict { kUndecided, kWelcome, kRejected };

  void accept_guests();
  Verdict hear(Guest& guest) const;
  void reject(std::size_t index);

  int listener_;
  std::string token_;
  std::vector<Guest> guests_;
  std::int64_t rejected_connection_count_ = 0;
};

}  // namespace fabriscope
