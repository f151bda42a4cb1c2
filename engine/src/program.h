// The whole of a run in this process, from settings to exit status.
#pragma once

#include <string>

#include "fabriscope/settings.h"

namespace fabriscope {

// Throws UsageError; every other failure is in the stream, on stderr and in the exit status.
int run_program(const Settings& settings);

// The registered transports, benchmarks and rendezvous as one JSON object.
std::string list_text();
// Throws UsageError where two plug-ins took one name.
void refuse_broken_registries();

}  // namespace fabriscope
