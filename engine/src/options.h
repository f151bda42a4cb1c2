// The command line.
#pragma once

#include <string>

#include "fabriscope/settings.h"

namespace fabriscope {

enum class Action { kRun, kList, kCopyRate, kHelp, kVersion };

struct CommandLine {
  Action action = Action::kRun;
  Settings settings;
};

// Throws UsageError with one sentence. The token is taken from the environment: a command line can
// be read by everyone on the host.
CommandLine parse_command_line(int argument_count, const char* const* arguments);
std::string help_text();

}  // namespace fabriscope
