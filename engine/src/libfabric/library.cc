#include "library.h"

#ifdef FABRISCOPE_WITH_LIBFABRIC

#include <string>

#include "../loaded_library.h"
#include "signals.h"

namespace fabriscope {

LibfabricLibrary LibfabricLibrary::load(const std::string& file) {
  const KeptSignals kept;
  const LoadedLibrary library(file, "libfabric", "libfabric1");
  LibfabricLibrary calls;
#define FABRISCOPE_FIND(member, name) library.find(#name, calls.member);
  FABRISCOPE_LIBFABRIC_CALLS(FABRISCOPE_FIND)
#undef FABRISCOPE_FIND
  return calls;
}

const LibfabricLibrary& LibfabricLibrary::get() {
  static const LibfabricLibrary library = load("libfabric.so.1");
  return library;
}

std::string LibfabricLibrary::version_text() const {
  const std::uint32_t number = version();
  return "libfabric " + std::to_string(FI_MAJOR(number)) + "." + std::to_string(FI_MINOR(number));
}

}  // namespace fabriscope

#endif
