// libfabric, loaded when it is first needed: its headers come with us (engine/third_party), and the
// engine runs without the library and then says so.
#pragma once

#ifndef FABRISCOPE_WITHOUT_LIBFABRIC
#define FABRISCOPE_WITH_LIBFABRIC 1

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_tagged.h>

// A name that others may have for a function of theirs.
#undef count_of

#include <string>

namespace fabriscope {

// X(member, name of the function): all others are inline functions of the headers, through tables
// of the objects that these return.
#define FABRISCOPE_LIBFABRIC_CALLS(X) \
  X(get_info, fi_getinfo)             \
  X(free_info, fi_freeinfo)           \
  X(duplicate_info, fi_dupinfo)       \
  X(open_fabric, fi_fabric)           \
  X(error_text, fi_strerror)          \
  X(version, fi_version)

struct LibfabricLibrary {
// NOLINTNEXTLINE(bugprone-macro-parentheses): it declares
#define FABRISCOPE_DECLARE(member, name) decltype(&::name) member = nullptr;
  FABRISCOPE_LIBFABRIC_CALLS(FABRISCOPE_DECLARE)
#undef FABRISCOPE_DECLARE

  // Throws CaseError with the linker's own words.
  static LibfabricLibrary load(const std::string& file);
  // Loaded once and never unloaded.
  static const LibfabricLibrary& get();

  std::string version_text() const;
};

}  // namespace fabriscope

#endif
