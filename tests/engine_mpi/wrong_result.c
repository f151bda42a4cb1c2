// Loaded into an MPI program (LD_PRELOAD), it makes collectives wrong: a bit of what a rank has received is flipped
// after the call, or in MPI_Wait for the non-blocking forms, and a barrier lets everybody pass. Messages of bytes and
// floats only: the engine's own are of other types.
#include <mpi.h>
#include <stddef.h>

static unsigned char *under_way = NULL;  // what the started operation receives

static unsigned char *ours(void *buffer, MPI_Datatype type) {
  return type == MPI_BYTE || type == MPI_FLOAT ? buffer : NULL;
}

static int flip(unsigned char *received, int result) {
  if (received != NULL) received[0] ^= 0x10;
  return result;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
  unsigned char *received = under_way;
  under_way = NULL;
  return flip(received, PMPI_Wait(request, status));
}

int MPI_Barrier(MPI_Comm comm) {
  (void)comm;
  return MPI_SUCCESS;
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
  (void)comm;
  return PMPI_Ibarrier(MPI_COMM_SELF, request);
}

#define BARE(...) __VA_ARGS__
// A call and its non-blocking form, which takes the same arguments and a request.
#define BREAK(name, later, type, declared, passed)                               \
  int MPI_##name(BARE declared) { return flip(ours(to, type), PMPI_##name(BARE passed)); } \
  int MPI_##later(BARE declared, MPI_Request *request) {                         \
    under_way = ours(to, type);                                                  \
    return PMPI_##later(BARE passed, request);                                   \
  }

#define FROM const void *from, int n, MPI_Datatype type
#define FROM_EACH const void *from, const int n[], const int at[], MPI_Datatype type
#define TO void *to, int m, MPI_Datatype its
#define TO_EACH void *to, const int m[], const int there[], MPI_Datatype its

BREAK(Bcast, Ibcast, type, (void *to, int n, MPI_Datatype type, int root, MPI_Comm comm), (to, n, type, root, comm))
BREAK(Gather, Igather, its, (FROM, TO, int root, MPI_Comm comm), (from, n, type, to, m, its, root, comm))
BREAK(Gatherv, Igatherv, its, (FROM, TO_EACH, int root, MPI_Comm comm), (from, n, type, to, m, there, its, root, comm))
BREAK(Scatter, Iscatter, its, (FROM, TO, int root, MPI_Comm comm), (from, n, type, to, m, its, root, comm))
BREAK(Scatterv, Iscatterv, its, (FROM_EACH, TO, int root, MPI_Comm comm), (from, n, at, type, to, m, its, root, comm))
BREAK(Allgather, Iallgather, its, (FROM, TO, MPI_Comm comm), (from, n, type, to, m, its, comm))
BREAK(Allgatherv, Iallgatherv, its, (FROM, TO_EACH, MPI_Comm comm), (from, n, type, to, m, there, its, comm))
BREAK(Alltoall, Ialltoall, its, (FROM, TO, MPI_Comm comm), (from, n, type, to, m, its, comm))
BREAK(Alltoallv, Ialltoallv, its, (FROM_EACH, TO_EACH, MPI_Comm comm), (from, n, at, type, to, m, there, its, comm))
BREAK(Reduce, Ireduce, type,
      (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm),
      (from, to, n, type, op, root, comm))
BREAK(Allreduce, Iallreduce, type,
      (const void *from, void *to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (from, to, n, type, op, comm))
BREAK(Reduce_scatter, Ireduce_scatter, type,
      (const void *from, void *to, const int n[], MPI_Datatype type, MPI_Op op, MPI_Comm comm),
      (from, to, n, type, op, comm))
