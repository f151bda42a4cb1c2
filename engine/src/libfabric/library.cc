#include "library.h"

#ifdef FABRISCOPE_WITH_LIBFABRIC

#include <dlfcn.h>

#include <string>

#include "fabriscope/error.h"
#include "signals.h"

namespace fabriscope {
namespace {

template <typename Function>
void find(void* library, const std::string& file, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw CaseError(file + " has no " + name);
}

}  // namespace

LibfabricLibrary LibfabricLibrary::load(const std::string& file) {
  const KeptSignals kept;
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    throw CaseError("the libfabric transport needs " + file + " (package libfabric1): " +
                    (reason != nullptr ? reason : "it cannot be loaded"));
  }
  LibfabricLibrary calls;
#define FABRISCOPE_FIND(member, name) find(library, file, #name, calls.member);
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
