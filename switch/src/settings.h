// The switch's command line.
#pragma once

#include <string>
#include <vector>

#include "fabric.h"
#include "port.h"

namespace fabriscope::lab {

struct Settings {
  std::vector<FabricSettings> fabrics;
  std::vector<PortSettings> ports;
  std::string control_path;
  std::int64_t awake_ns =
      5'000'000;         // how long cores are kept awake after the last event; 0: never
  bool realtime = true;  // ask for SCHED_FIFO; done without where it is not allowed
};

// Throws std::invalid_argument with one sentence.
Settings read_settings(const std::vector<std::string>& arguments);

extern const char* const kUsage;

}  // namespace fabriscope::lab
