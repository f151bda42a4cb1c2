// One call of MPI's one-sided operations, and what is to be known of it.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <mpi.h>

namespace fabriscope {

// Of one message: `source` is what is sent, `result` where something comes back to, and
// `displacement` where it goes at the target.
struct Transfer {
  MPI_Win window;
  int target;
  MPI_Aint displacement;
  const void* source;
  void* result;
  const void* comparison;  // compare_and_swap alone
  int count;
  MPI_Datatype type;
  MPI_Op op;
};

struct Operation {
  const char* name;
  void (*start)(const Transfer&);
  bool writes;             // into the target's memory
  bool fetches;            // what stood in the target's memory
  bool has_reduction;      // combines what is sent with what is there
  bool compares;           // writes only where the target's memory holds what was expected
  bool is_of_one_element;  // whatever the size of the message would allow
  const char* datatype;    // unless the case names another; null: bytes, and nothing else
};

}  // namespace fabriscope

#endif
