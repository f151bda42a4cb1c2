// Waits for what was posted at several endpoints, in whatever order it completes.
#pragma once

#include <poll.h>

#include <algorithm>
#include <vector>

#include "../transports/backoff.h"
#include "fabriscope/transport.h"

namespace fabriscope {

class AwaitAll {
 public:
  explicit AwaitAll(const std::vector<Endpoint*>& endpoints) : endpoints_(endpoints) {
    open_.reserve(endpoints.size());
    sleeping_.reserve(endpoints.size());
  }

  // Allocates nothing.
  void wait() {
    open_.assign(endpoints_.begin(), endpoints_.end());
    for (Backoff backoff;;) {
      const std::size_t open_count = open_.size();
      const auto done = [](Endpoint* endpoint) { return endpoint->test_all(); };
      open_.erase(std::remove_if(open_.begin(), open_.end(), done), open_.end());
      if (open_.empty()) return;
      if (open_.size() < open_count) {
        backoff = Backoff();
      } else if (!sleep()) {
        backoff.wait();
      }
    }
  }

 private:
  // Until one of them can be tested again; false where not all of them can be slept on.
  bool sleep() {
    sleeping_.clear();
    for (Endpoint* endpoint : open_) {
      const int fd = endpoint->readable_fd();
      if (fd < 0) return false;
      sleeping_.push_back({fd, POLLIN, 0});
    }
    ::poll(sleeping_.data(), sleeping_.size(), -1);
    return true;
  }

  const std::vector<Endpoint*>& endpoints_;
  std::vector<Endpoint*> open_;
  std::vector<pollfd> sleeping_;
};

}  // namespace fabriscope
