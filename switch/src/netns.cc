#include "netns.h"

#include <fcntl.h>
#include <sched.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <system_error>

namespace fabriscope::lab {

void throw_errno(const std::string& attempted) {
  throw std::system_error(errno, std::generic_category(), attempted);
}

InsideNetworkNamespace::InsideNetworkNamespace(const std::string& path)
    : own_(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) {
  if (own_.get() < 0) throw_errno("open /proc/self/ns/net");
  const UniqueFd other(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (other.get() < 0) throw_errno("open " + path);
  if (::setns(other.get(), CLONE_NEWNET) != 0) throw_errno("enter the namespace " + path);
}

InsideNetworkNamespace::~InsideNetworkNamespace() {
  if (::setns(own_.get(), CLONE_NEWNET) != 0) {
    std::perror("fabriscope-switch: cannot return to the switch's own network namespace");
    std::abort();
  }
}

}  // namespace fabriscope::lab
