#include "library.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <dlfcn.h>

#include <string>

#include "fabriscope/error.h"

// The headers' macros stand for calls, and here it is the functions themselves that are meant.
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

namespace fabriscope {
namespace {

void* open_library(const std::string& file, const std::string& package) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) return library;
  const char* reason = ::dlerror();
  throw CaseError("the verbs transport needs " + file + " (package " + package +
                  "): " + (reason != nullptr ? reason : "it cannot be loaded"));
}

template <typename Function>
void find(void* library, const std::string& file, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) throw CaseError(file + " has no " + name);
}

}  // namespace

VerbsLibrary VerbsLibrary::load(const std::string& file) {
  void* library = open_library(file, "libibverbs1");
  VerbsLibrary calls;
#define FABRISCOPE_FIND(member, name) find(library, file, #name, calls.member);
  FABRISCOPE_VERBS_CALLS(FABRISCOPE_FIND)
#undef FABRISCOPE_FIND
  return calls;
}

const VerbsLibrary& VerbsLibrary::get() {
  static const VerbsLibrary library = load("libibverbs.so.1");
  return library;
}

#ifdef FABRISCOPE_WITH_RDMA_CM

namespace {

constexpr char kRdmaCmFile[] = "librdmacm.so.1";

RdmaCmLibrary load_rdma_cm() {
  void* library = open_library(kRdmaCmFile, "librdmacm1");
  RdmaCmLibrary calls;
#define FABRISCOPE_FIND(member, name) find(library, kRdmaCmFile, #name, calls.member);
  FABRISCOPE_RDMA_CM_CALLS(FABRISCOPE_FIND)
#undef FABRISCOPE_FIND
  return calls;
}

}  // namespace

const RdmaCmLibrary& RdmaCmLibrary::get() {
  static const RdmaCmLibrary library = load_rdma_cm();
  return library;
}

#endif

}  // namespace fabriscope

#endif
