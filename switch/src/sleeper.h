// Sleeps until something is to be read or a moment is near, no longer and not much shorter.
#pragma once

#include <cstdint>

namespace fabriscope::lab {

class Sleeper {
 public:
  // `epoll` becomes readable when there is something to read.
  explicit Sleeper(int epoll) : epoll_(epoll) {}

  // Returns when `epoll` is readable or `until_ns` is nearer than a wake-up takes; kNever: only
  // when readable. What is left of the time is for spinning: the lead learns how late wake-ups are
  // on this machine.
  void sleep_until(std::int64_t until_ns);

 private:
  int epoll_;
  std::int64_t lead_ns_ = 5'000;
};

}  // namespace fabriscope::lab
