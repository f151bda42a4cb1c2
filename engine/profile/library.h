#pragma once

namespace fabriscope::profile {

// Returns the MPI library's own function: of the program's libraries, or of an MPI library that
// something loaded for itself alone (as Python does). Nothing of ours refers to it by name, so that
// a program without MPI, in which we are loaded as well, misses nothing. Ends the process with a
// sentence where there is none.
void* find_function(const char* name);

template <typename Function>
Function found(const char* name) {
  return reinterpret_cast<Function>(find_function(name));
}

// Returns a variable of the MPI library, as Open MPI's handles are; null where there is none.
void* find_variable(const char* name);

}  // namespace fabriscope::profile
