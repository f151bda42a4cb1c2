// What can go wrong, by who is to mend it. Every message says what failed, with the evidence.
#pragma once

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

namespace fabriscope {

// The process' exit statuses. A signal adds 128 + its number, as shells do.
enum ExitCode : int { kExitOk = 0, kExitFailure = 1, kExitUsage = 2, kExitWatchdog = 4 };

// The command line or the specification is wrong: nothing was measured.
class UsageError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// One case cannot be measured; the others go on.
class CaseError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The run is over: the ranks no longer agree on what comes next.
class RunError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A signal asked for an end while the ranks were still finding each other.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(int signal_number)
      : std::runtime_error("interrupted by signal " + std::to_string(signal_number)),
        signal_number_(signal_number) {}
  int signal_number() const { return signal_number_; }

 private:
  int signal_number_;
};

// The error of the system call that just failed; `attempted` reads on from "cannot".
inline std::system_error system_failure(const std::string& attempted) {
  return {errno, std::generic_category(), "cannot " + attempted};
}

}  // namespace fabriscope
