// What a case of the libfabric transport can ask for.
#pragma once

#include <string>

#include "fabriscope/transport.h"

namespace fabriscope {

struct LibfabricOptions {
  std::string provider = "tcp";   // as `fi_info -l` lists it
  bool registers_always = false;  // messages' memory, where the provider does not ask for it too
};

// Throws CaseError.
LibfabricOptions parse_libfabric_options(const OptionSet& asked);

}  // namespace fabriscope
