// Loaded into an MPI program (LD_PRELOAD), it writes down each of its calls of one collective, at
// every rank: so that a program that prints means over ranks of means over calls can be compared by
// medians as well.
//
// $COLLECTIVE names the function (MPI_Bcast), $COLLECTIVE_BYTES the message of one rank to one
// other, or the whole vector of a reduction. A call lasts between two reads of the clock right
// around it. Where they go is said in
// `_overheard.h`.
#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "_overheard.h"

namespace {

const char* wanted_name() {
  static const char* const name = std::getenv("COLLECTIVE");
  return name == nullptr ? "" : name;
}

long long wanted_bytes() {
  static const long long bytes = [] {
    const char* const text = std::getenv("COLLECTIVE_BYTES");
    return text == nullptr ? -1 : std::atoll(text);
  }();
  return bytes;
}

long long bytes_of(long long element_count, MPI_Datatype type) {
  int size = 0;
  PMPI_Type_size(type, &size);
  return element_count * size;
}

int size_of(MPI_Comm communicator) {
  int size = 0;
  PMPI_Comm_size(communicator, &size);
  return size;
}

long long sum(const int counts[], MPI_Comm communicator) {
  long long total = 0;
  for (int rank = 0; rank < size_of(communicator); ++rank) total += counts[rank];
  return total;
}

template <typename Call>
int listen(const char* name, long long bytes, Call&& call) {
  const bool listens = std::strcmp(name, wanted_name()) == 0 && bytes == wanted_bytes();
  if (!listens) return call();
  const std::int64_t begin_ns = overheard::now_ns();
  const int result = call();
  overheard::hear(begin_ns, overheard::now_ns());
  return result;
}

}  // namespace

#define LISTEN(name, bytes, declared, passed)                    \
  extern "C" int name declared {                                 \
    return listen(#name, bytes, [&] { return P##name passed; }); \
  }

LISTEN(MPI_Barrier, 0, (MPI_Comm comm), (comm))

// IMB tries how long its calls take, and would count the time in which it is stopped; then it
// broadcasts how many it will make.
extern "C" int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  const auto call = [&] { return PMPI_Bcast(data, n, type, root, comm); };
  const int result = listen("MPI_Bcast", bytes_of(n, type), call);
  if (overheard::count > 1 && n == 1 && type == MPI_INT) overheard::may_speak = true;
  return result;
}

LISTEN(MPI_Gather, bytes_of(n, type),
       (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype its, int root,
        MPI_Comm comm),
       (from, n, type, to, m, its, root, comm))
LISTEN(MPI_Gatherv, bytes_of(n, type),
       (const void* from, int n, MPI_Datatype type, void* to, const int counts[],
        const int places[], MPI_Datatype its, int root, MPI_Comm comm),
       (from, n, type, to, counts, places, its, root, comm))
LISTEN(MPI_Scatter, bytes_of(m, its),
       (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype its, int root,
        MPI_Comm comm),
       (from, n, type, to, m, its, root, comm))
LISTEN(MPI_Scatterv, bytes_of(m, its),
       (const void* from, const int counts[], const int places[], MPI_Datatype type, void* to,
        int m, MPI_Datatype its, int root, MPI_Comm comm),
       (from, counts, places, type, to, m, its, root, comm))
LISTEN(MPI_Reduce, bytes_of(n, type),
       (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
       (from, to, n, type, op, root, comm))
LISTEN(MPI_Allreduce, bytes_of(n, type),
       (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
       (from, to, n, type, op, comm))
LISTEN(MPI_Reduce_scatter, bytes_of(sum(counts, comm), type),
       (const void* from, void* to, const int counts[], MPI_Datatype type, MPI_Op op,
        MPI_Comm comm),
       (from, to, counts, type, op, comm))
LISTEN(MPI_Allgather, bytes_of(n, type),
       (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype its,
        MPI_Comm comm),
       (from, n, type, to, m, its, comm))
LISTEN(MPI_Allgatherv, bytes_of(n, type),
       (const void* from, int n, MPI_Datatype type, void* to, const int counts[],
        const int places[], MPI_Datatype its, MPI_Comm comm),
       (from, n, type, to, counts, places, its, comm))
LISTEN(MPI_Alltoall, bytes_of(n, type),
       (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype its,
        MPI_Comm comm),
       (from, n, type, to, m, its, comm))
LISTEN(MPI_Alltoallv, bytes_of(counts[0], type),
       (const void* from, const int counts[], const int places[], MPI_Datatype type, void* to,
        const int m[], const int at[], MPI_Datatype its, MPI_Comm comm),
       (from, counts, places, type, to, m, at, its, comm))
