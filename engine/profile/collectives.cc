// Operations of all ranks of a communicator.
//
// The size of a message is what the engine's collectives call so (docs/collectives.md): a block of
// one rank where blocks move, else the whole vector. Bytes are what the rank hands over: of an
// all-to-all the blocks for all ranks.
#include "wrap.h"

namespace fabriscope::profile {
namespace {

void together(Call call, const Span& span, std::uint64_t message_bytes, std::uint64_t bytes,
              MPI_Comm comm) {
  count(call, message_bytes, bytes, communicator(comm).group, span.ticks());
}

void vector(Call call, const Span& span, std::uint64_t bytes, MPI_Comm comm) {
  together(call, span, bytes, bytes, comm);
}

// Blocks of one size for every rank.
void blocks(Call call, const Span& span, std::uint64_t block_bytes, MPI_Comm comm) {
  together(call, span, block_bytes, block_bytes * communicator(comm).size, comm);
}

// Blocks of several sizes: the class is that of their mean.
void uneven(Call call, const Span& span, std::uint64_t bytes, MPI_Comm comm) {
  const std::uint32_t size = communicator(comm).size;
  together(call, span, size == 0 ? 0 : (bytes + size - 1) / size, bytes, comm);
}

template <typename Count>
long long sum(const Count counts[], MPI_Comm comm) {
  long long total = 0;
  for (std::uint32_t i = 0; i < communicator(comm).size; ++i) total += counts[i];
  return total;
}

std::uint64_t sum_of_types(const int counts[], const MPI_Datatype types[], MPI_Comm comm) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < communicator(comm).size; ++i)
    total += bytes_of(counts[i], types[i]);
  return total;
}

int own_rank(MPI_Comm comm) {
  static const auto rank_of = found<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank");
  int rank = 0;
  rank_of(comm, &rank);
  return rank;
}

}  // namespace
}  // namespace fabriscope::profile

using namespace fabriscope::profile;  // NOLINT(google-build-using-namespace): what follows is MPI's
                                      // own names

FABRISCOPE_MPI_TWICE(MPI_Barrier, MPI_Ibarrier, (MPI_Comm comm), (comm),
                     vector(call, span, 0, comm))
FABRISCOPE_MPI_TWICE(MPI_Bcast, MPI_Ibcast,
                     (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm),
                     (data, n, type, root, comm), vector(call, span, bytes_of(n, type), comm))

// The root of a gather has no block of its own to send where it works in place, and is told the
// size for the others.
#define GATHERED (from == MPI_IN_PLACE ? bytes_of(m, its) : bytes_of(n, type))
#define SCATTERED (to == MPI_IN_PLACE ? bytes_of(n, type) : bytes_of(m, its))
#define FABRISCOPE_MOVES_BLOCKS(name, immediate, note)                               \
  FABRISCOPE_MPI_TWICE(name, immediate,                                              \
                       (const void* from, int n, MPI_Datatype type, void* to, int m, \
                        MPI_Datatype its, MPI_Comm comm),                            \
                       (from, n, type, to, m, its, comm), note)
#define FABRISCOPE_MOVES_BLOCKS_OF_ROOT(name, immediate, note)                       \
  FABRISCOPE_MPI_TWICE(name, immediate,                                              \
                       (const void* from, int n, MPI_Datatype type, void* to, int m, \
                        MPI_Datatype its, int root, MPI_Comm comm),                  \
                       (from, n, type, to, m, its, root, comm), note)
FABRISCOPE_MOVES_BLOCKS_OF_ROOT(MPI_Gather, MPI_Igather, vector(call, span, GATHERED, comm))
FABRISCOPE_MOVES_BLOCKS_OF_ROOT(MPI_Scatter, MPI_Iscatter, vector(call, span, SCATTERED, comm))
FABRISCOPE_MOVES_BLOCKS(MPI_Allgather, MPI_Iallgather, vector(call, span, GATHERED, comm))
FABRISCOPE_MOVES_BLOCKS(MPI_Alltoall, MPI_Ialltoall, blocks(call, span, GATHERED, comm))

#define GATHERED_IN_PARTS \
  (from == MPI_IN_PLACE ? bytes_of(counts[own_rank(comm)], its) : bytes_of(n, type))
FABRISCOPE_MPI_TWICE(MPI_Gatherv, MPI_Igatherv,
                     (const void* from, int n, MPI_Datatype type, void* to, const int counts[],
                      const int places[], MPI_Datatype its, int root, MPI_Comm comm),
                     (from, n, type, to, counts, places, its, root, comm),
                     vector(call, span, GATHERED_IN_PARTS, comm))
FABRISCOPE_MPI_TWICE(MPI_Allgatherv, MPI_Iallgatherv,
                     (const void* from, int n, MPI_Datatype type, void* to, const int counts[],
                      const int places[], MPI_Datatype its, MPI_Comm comm),
                     (from, n, type, to, counts, places, its, comm),
                     vector(call, span, GATHERED_IN_PARTS, comm))
FABRISCOPE_MPI_TWICE(MPI_Scatterv, MPI_Iscatterv,
                     (const void* from, const int counts[], const int places[], MPI_Datatype type,
                      void* to, int m, MPI_Datatype its, int root, MPI_Comm comm),
                     (from, counts, places, type, to, m, its, root, comm),
                     vector(call, span,
                            to == MPI_IN_PLACE ? bytes_of(counts[own_rank(comm)], type)
                                               : bytes_of(m, its),
                            comm))
FABRISCOPE_MPI_TWICE(MPI_Alltoallv, MPI_Ialltoallv,
                     (const void* from, const int counts[], const int places[], MPI_Datatype type,
                      void* to, const int its_counts[], const int its_places[], MPI_Datatype its,
                      MPI_Comm comm),
                     (from, counts, places, type, to, its_counts, its_places, its, comm),
                     uneven(call, span,
                            from == MPI_IN_PLACE ? bytes_of(sum(its_counts, comm), its)
                                                 : bytes_of(sum(counts, comm), type),
                            comm))
FABRISCOPE_MPI_TWICE(MPI_Alltoallw, MPI_Ialltoallw,
                     (const void* from, const int counts[], const int places[],
                      const MPI_Datatype types[], void* to, const int its_counts[],
                      const int its_places[], const MPI_Datatype its[], MPI_Comm comm),
                     (from, counts, places, types, to, its_counts, its_places, its, comm),
                     uneven(call, span,
                            from == MPI_IN_PLACE ? sum_of_types(its_counts, its, comm)
                                                 : sum_of_types(counts, types, comm),
                            comm))

FABRISCOPE_MPI_TWICE(MPI_Reduce, MPI_Ireduce,
                     (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, int root,
                      MPI_Comm comm),
                     (from, to, n, type, op, root, comm),
                     vector(call, span, bytes_of(n, type), comm))
#define FABRISCOPE_REDUCES(name, immediate)                                             \
  FABRISCOPE_MPI_TWICE(                                                                 \
      name, immediate,                                                                  \
      (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm), \
      (from, to, n, type, op, comm), vector(call, span, bytes_of(n, type), comm))
FABRISCOPE_REDUCES(MPI_Allreduce, MPI_Iallreduce)
FABRISCOPE_REDUCES(MPI_Scan, MPI_Iscan)
FABRISCOPE_REDUCES(MPI_Exscan, MPI_Iexscan)
FABRISCOPE_MPI_TWICE(MPI_Reduce_scatter, MPI_Ireduce_scatter,
                     (const void* from, void* to, const int counts[], MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm),
                     (from, to, counts, type, op, comm),
                     vector(call, span, bytes_of(sum(counts, comm), type), comm))
FABRISCOPE_MPI_TWICE(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                     (const void* from, void* to, int n, MPI_Datatype type, MPI_Op op,
                      MPI_Comm comm),
                     (from, to, n, type, op, comm),
                     vector(call, span, bytes_of(n, type) * communicator(comm).size, comm))

// With neighbours alone: the blocks for those that the rank sends to.
FABRISCOPE_MPI(MPI_Neighbor_allgather,
               (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype its,
                MPI_Comm comm),
               (from, n, type, to, m, its, comm), vector(call, span, bytes_of(n, type), comm))
FABRISCOPE_MPI(MPI_Neighbor_allgatherv,
               (const void* from, int n, MPI_Datatype type, void* to, const int counts[],
                const int places[], MPI_Datatype its, MPI_Comm comm),
               (from, n, type, to, counts, places, its, comm),
               vector(call, span, bytes_of(n, type), comm))
FABRISCOPE_MPI(MPI_Neighbor_alltoall,
               (const void* from, int n, MPI_Datatype type, void* to, int m, MPI_Datatype its,
                MPI_Comm comm),
               (from, n, type, to, m, its, comm),
               together(call, span, bytes_of(n, type),
                        bytes_of(n, type) * communicator(comm).neighbours, comm))
FABRISCOPE_MPI(MPI_Neighbor_alltoallv,
               (const void* from, const int counts[], const int places[], MPI_Datatype type,
                void* to, const int its_counts[], const int its_places[], MPI_Datatype its,
                MPI_Comm comm),
               (from, counts, places, type, to, its_counts, its_places, its, comm),
               vector(call, span, 0, comm))
