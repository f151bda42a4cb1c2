#include "library.h"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fabriscope::profile {

namespace {

constexpr std::size_t kMostLibraries = 16;

// The paths of the libraries of this process that may be MPI's.
struct Libraries {
  std::array<const char*, kMostLibraries> paths{};
  std::size_t count = 0;
};

int take(dl_phdr_info* about, std::size_t /*size*/, void* argument) {
  auto& libraries = *static_cast<Libraries*>(argument);
  const char* const slash = std::strrchr(about->dlpi_name, '/');
  const char* const file = slash == nullptr ? about->dlpi_name : slash + 1;
  const bool is_mpi = std::strncmp(file, "libmpi", 6) == 0 || std::strncmp(file, "libpmpi", 7) == 0;
  if (is_mpi && libraries.count < kMostLibraries) {
    libraries.paths[libraries.count++] = about->dlpi_name;
  }
  return 0;
}

// Returns what one of MPI's own libraries has of that name, whoever loaded it.
void* find_in_libraries(const char* name) {
  Libraries libraries;
  dl_iterate_phdr(take, &libraries);
  void* address = nullptr;
  for (std::size_t i = 0; i < libraries.count && address == nullptr; ++i) {
    void* const handle = dlopen(libraries.paths[i], RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    address = dlsym(handle, name);
    dlclose(handle);
  }
  return address;
}

}  // namespace

// A program may have a copy of its own, which then is the one that everybody uses.
void* find_variable(const char* name) {
  void* const address = dlsym(RTLD_DEFAULT, name);
  return address != nullptr ? address : find_in_libraries(name);
}

void* find_function(const char* name) {
  void* address = dlsym(RTLD_NEXT, name);  // Not ours, which stand under the same name.
  if (address == nullptr) address = find_in_libraries(name);
  if (address == nullptr) {
    std::fprintf(stderr,
                 "fabriscope: the program calls %s, and no MPI library of its process has that -- "
                 "a program that holds its MPI library (linked with -static) cannot be profiled\n",
                 name);
    std::_Exit(1);
  }
  return address;
}

}  // namespace fabriscope::profile
