// Makes a guest's root file system and its surroundings, as process 1 of a kernel of its own.
#pragma once

#include <string>

namespace fabriscope::guest {

struct BootSettings {
  std::string folder;  // of the lab, on the machine; the guest sees it at the same path, read-only
  std::string host;  // name of the guest; FOLDER/HOST.boot is a shell script that finishes the boot
};

// Throws std::system_error with what was attempted, or std::runtime_error if the script failed.
void boot(const BootSettings& settings);

}  // namespace fabriscope::guest
