#include "options.h"

#include "fabriscope/error.h"

namespace fabriscope {

LibfabricOptions parse_libfabric_options(const OptionSet& asked) {
  LibfabricOptions options;
  for (const auto& [key, value] : asked) {
    if (key != "provider" && key != "registration") {
      throw CaseError("the libfabric transport takes no option '" + key +
                      "'; known are: provider, registration");
    }
    if (value.empty()) continue;
    if (key == "provider") {
      options.provider = value;
    } else if (value == "as-needed" || value == "always") {
      options.registers_always = value == "always";
    } else {
      throw CaseError("registration is '" + value + "', not one of as-needed, always");
    }
  }
  return options;
}

}  // namespace fabriscope
