#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string>

#include "copy_rate.h"
#include "engine_version.h"
#include "fabriscope/error.h"
#include "interrupt.h"
#include "options.h"
#include "program.h"

namespace {

using namespace fabriscope;

int run(const CommandLine& line) {
  if (line.settings.die_with_parent) prctl(PR_SET_PDEATHSIG, SIGTERM);
  return run_program(line.settings);
}

int dispatch(const CommandLine& line) {
  switch (line.action) {
    case Action::kHelp:
      std::fputs(help_text().c_str(), stdout);
      return kExitOk;
    case Action::kVersion:
      std::printf("fabriscope-engine %s\n", kEngineVersion);
      return kExitOk;
    case Action::kList:
      std::printf("%s\n", list_text().c_str());
      return kExitOk;
    case Action::kCopyRate:
      std::printf("%s\n", copy_rate_text().c_str());
      return kExitOk;
    case Action::kRun:
      break;
  }
  return run(line);
}

}  // namespace

int main(int argument_count, char** arguments) {
  try {
    refuse_broken_registries();
    install_signal_handlers();
    const int exit_code = dispatch(parse_command_line(argument_count, arguments));
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
      throw system_failure("write to standard output");
    }
    return exit_code;
  } catch (const UsageError& error) {
    std::fprintf(stderr, "fabriscope-engine: %s\n", error.what());
    return kExitUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fabriscope-engine: %s\n", error.what());
    return kExitFailure;
  }
}
