// The switch's command line, and what it may be told while it runs.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "fabric_model.h"
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

// What is to be different from now on.
struct Change {
  std::string fabric;
  std::string host;  // empty: every port of the fabric
  std::optional<OnFull> on_full;
  std::map<std::string, std::string> cables;  // that are named; the others stay
  std::map<std::string, std::string> faults;  // likewise
  std::map<std::string, std::string> qos;     // likewise, of queues and priorities
};

// Both throw std::invalid_argument with one sentence.
Settings read_settings(const std::vector<std::string>& arguments);
Change read_change(const std::string& text);

// Return the faults of a port at its place among those that are meant, and the settings of a
// fabric, after a change that was read. The latter throws std::invalid_argument for what cannot be.
Faults changed(Faults faults, const Change& change, std::size_t place = 0, std::size_t count = 1);
FabricSettings changed(FabricSettings fabric, const Change& change);

// Returns the settings of a fabric, and what is lost at its ports, by the words that change them,
// as one line of JSON with texts.
std::string settings_json(const FabricSettings& fabric, const std::vector<Faults>& ports);

extern const char* const kUsage;

}  // namespace fabriscope::lab
