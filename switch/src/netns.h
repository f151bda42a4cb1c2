#pragma once

#include <string>

#include "unique_fd.h"

namespace fabriscope::lab {

// While it lives, this thread is in another network namespace.
class InsideNetworkNamespace {
 public:
  explicit InsideNetworkNamespace(const std::string& path);
  InsideNetworkNamespace(const InsideNetworkNamespace&) = delete;
  InsideNetworkNamespace& operator=(const InsideNetworkNamespace&) = delete;
  ~InsideNetworkNamespace();

 private:
  UniqueFd own_;
};

[[noreturn]] void throw_errno(const std::string& attempted);

}  // namespace fabriscope::lab
