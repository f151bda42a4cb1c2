// Lets in only those who know the run's token.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "unique_fd.h"

namespace fabriscope {

// 128 random bits, as digits. Throws std::system_error.
std::string random_token();

struct Greeted {
  UniqueFd fd;
  std::string purpose;
};

// Accepts on a listening socket. Strangers neither hold up those who come after them nor cost more
// than a few hundred bytes each: every connection has its own short time limit, many are heard at
// once in a waiting room, and what is said before the token is bounded. A source may have half of
// the room. Where the room or a source's half is full, the connection that has waited longest gives
// way, of the source that has the most: so who comes from elsewhere keeps its place, and who is
// pushed out by its own neighbours tries again (entrance.h). Each one that presented the token is
// told that it is in, and each one that presented another that it is refused.
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
  // Drops those still undecided and those who wait in the queue, and counts them.
  void close();

 private:
  struct Guest {
    UniqueFd fd;
    std::string source;
    std::string heard;
    std::int64_t deadline_ns;
  };
  enum class Verdict { kUndecided, kWelcome, kRejected };

  void accept_guests(int limit);
  void admit(UniqueFd fd, std::string source);
  // False where nobody is left to give way.
  bool make_room(const std::string& source);
  std::size_t count_from(const std::string& source) const;
  void hear_all();
  Verdict hear(Guest& guest) const;
  // Hears one guest; true where it has left the room, in or out.
  bool decide(std::size_t index);
  void reject(std::size_t index);

  int listener_;
  std::string token_;
  std::vector<Guest> guests_;  // the oldest first
  std::deque<Greeted> greeted_;
  std::int64_t rejected_connection_count_ = 0;
};

}  // namespace fabriscope
