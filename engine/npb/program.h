// The command line, and what is asked before anything is allocated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../src/json.h"
#include "kernel.h"

namespace fabriscope::npb {

// What does not fit, with what it takes.
class Refusal : public UsageError {
 public:
  Refusal(const std::string& reason, JsonObject details)
      : UsageError(reason), details_(std::move(details)) {}
  const JsonObject& details() const { return details_; }

 private:
  JsonObject details_;
};

struct CommandLine {
  enum class Action { kRun, kList, kHelp };
  Action action = Action::kRun;
  std::string kernel;
  ProblemClass problem_class = kClassS;
  int repeat_count = 1;
  bool is_dry = false;
  int rank_count = 1;  // of a dry run
  bool is_damaged = false;
};

// Throws UsageError with one sentence.
CommandLine parse_command_line(const std::vector<std::string>& words);
std::string help_text();
std::string list_text();

// Throws Refusal where the kernel cannot use this number of ranks, naming those near it.
void check_rank_count(const CommandLine& line, const Kernel& kernel, int rank_count);
// Throws Refusal where `needed_bytes` are not there on this host.
struct Memory {
  std::int64_t needed_bytes;
  std::int64_t available_bytes;
  std::string host;
};
void check_memory(const CommandLine& line, const Memory& memory);
// What the kernel calls available, within the limits of the control groups.
std::int64_t available_bytes();
std::string host_name();

JsonObject describe(const char* type, const CommandLine& line, const Kernel& kernel,
                    int rank_count);

}  // namespace fabriscope::npb
