#pragma once

#include <mpi.h>

#include "communicators.h"
#include "counters.h"
#include "library.h"
#include "requests.h"

// Defines a function of MPI that times the library's own and, where it counts, notes what it was.
//
// Under both names: Open MPI's Fortran calls PMPI_Send of its C library, which so is seen as well.
// In a process the first definition counts, and `found` returns the library's own.
#define FABRISCOPE_MPI(name, parameters, arguments, note)                            \
  extern "C" int name parameters {                                                   \
    static const auto real = fabriscope::profile::found<decltype(&name)>("P" #name); \
    [[maybe_unused]] MPI_Status own;                                                 \
    fabriscope::profile::Span span;                                                  \
    const int code = real arguments;                                                 \
    if (span.ends(code)) {                                                           \
      constexpr auto call = fabriscope::profile::Call::k##name;                      \
      static_cast<void>(call);                                                       \
      note;                                                                          \
    }                                                                                \
    return code;                                                                     \
  }                                                                                  \
  extern "C" __attribute__((alias(#name))) decltype(name) P##name;

// A call and the form of it that gives a request, which comes last.
#define FABRISCOPE_WITH_REQUEST(...) (__VA_ARGS__, MPI_Request * request)
#define FABRISCOPE_AND_REQUEST(...) (__VA_ARGS__, request)
#define FABRISCOPE_MPI_TWICE(name, requesting, parameters, arguments, note)                        \
  FABRISCOPE_MPI(name, parameters, arguments, note)                                                \
  FABRISCOPE_MPI(requesting, FABRISCOPE_WITH_REQUEST parameters, FABRISCOPE_AND_REQUEST arguments, \
                 note)
