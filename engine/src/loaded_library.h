// A shared library that is loaded when it is first needed, and never unloaded.
#pragma once

#include <dlfcn.h>

#include <string>
#include <utility>

#include "fabriscope/error.h"

namespace fabriscope {

class LoadedLibrary {
 public:
  // Throws CaseError with the linker's own words, and which Debian package has the file.
  LoadedLibrary(std::string file, const std::string& transport, const std::string& package)
      : file_(std::move(file)), handle_(::dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ != nullptr) return;
    const char* reason = ::dlerror();
    throw CaseError("the " + transport + " transport needs " + file_ + " (package " + package +
                    "): " + (reason != nullptr ? reason : "it cannot be loaded"));
  }

  // Throws CaseError if the library has no such function.
  template <typename Function>
  void find(const char* name, Function& function) const {
    function = reinterpret_cast<Function>(::dlsym(handle_, name));
    if (function == nullptr) throw CaseError(file_ + " has no " + name);
  }

 private:
  std::string file_;
  void* handle_;
};

// Why a library cannot be loaded; empty where it can.
template <typename Library>
std::string why_missing() {
  try {
    Library::get();
    return {};
  } catch (const CaseError& error) {
    return error.what();
  }
}

}  // namespace fabriscope
