#include "library.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <string>

#include "../loaded_library.h"

// The headers' macros stand for calls, and here it is the functions themselves that are meant.
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

namespace fabriscope {

VerbsLibrary VerbsLibrary::load(const std::string& file) {
  const LoadedLibrary library(file, "verbs", "libibverbs1");
  VerbsLibrary calls;
#define FABRISCOPE_FIND(member, name) library.find(#name, calls.member);
  FABRISCOPE_VERBS_CALLS(FABRISCOPE_FIND)
#undef FABRISCOPE_FIND
  return calls;
}

const VerbsLibrary& VerbsLibrary::get() {
  static const VerbsLibrary library = load("libibverbs.so.1");
  return library;
}

namespace {

RdmaCmLibrary load_rdma_cm() {
  const LoadedLibrary library("librdmacm.so.1", "verbs", "librdmacm1");
  RdmaCmLibrary calls;
#define FABRISCOPE_FIND(member, name) library.find(#name, calls.member);
  FABRISCOPE_RDMA_CM_CALLS(FABRISCOPE_FIND)
#undef FABRISCOPE_FIND
  return calls;
}

}  // namespace

const RdmaCmLibrary& RdmaCmLibrary::get() {
  static const RdmaCmLibrary library = load_rdma_cm();
  return library;
}

}  // namespace fabriscope

#endif
