#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// Every call that is counted, in the order of its number in the file. Names stand in the file too,
// so that a reader needs no list of its own. MPI_Sendrecv_shift is a MPI_Sendrecv (or _replace)
// that receives from another rank than the one that it sends to.
// clang-format off
#define FABRISCOPE_CALLS(X) \
  X(MPI_Send) X(MPI_Bsend) X(MPI_Ssend) X(MPI_Rsend) X(MPI_Recv) X(MPI_Sendrecv) \
  X(MPI_Sendrecv_replace) X(MPI_Sendrecv_shift) X(MPI_Isend) X(MPI_Ibsend) X(MPI_Issend) \
  X(MPI_Irsend) X(MPI_Irecv) X(MPI_Probe) X(MPI_Iprobe) X(MPI_Mprobe) X(MPI_Improbe) \
  X(MPI_Mrecv) X(MPI_Imrecv) X(MPI_Send_init) X(MPI_Bsend_init) X(MPI_Ssend_init) \
  X(MPI_Rsend_init) X(MPI_Recv_init) X(MPI_Start) X(MPI_Startall) X(MPI_Wait) X(MPI_Waitall) \
  X(MPI_Waitany) X(MPI_Waitsome) X(MPI_Test) X(MPI_Testall) X(MPI_Testany) X(MPI_Testsome) \
  X(MPI_Barrier) X(MPI_Bcast) X(MPI_Gather) X(MPI_Gatherv) X(MPI_Scatter) X(MPI_Scatterv) \
  X(MPI_Allgather) X(MPI_Allgatherv) X(MPI_Alltoall) X(MPI_Alltoallv) X(MPI_Alltoallw) \
  X(MPI_Reduce) X(MPI_Allreduce) X(MPI_Reduce_scatter) X(MPI_Reduce_scatter_block) X(MPI_Scan) \
  X(MPI_Exscan) X(MPI_Ibarrier) X(MPI_Ibcast) X(MPI_Igather) X(MPI_Igatherv) X(MPI_Iscatter) \
  X(MPI_Iscatterv) X(MPI_Iallgather) X(MPI_Iallgatherv) X(MPI_Ialltoall) X(MPI_Ialltoallv) \
  X(MPI_Ialltoallw) X(MPI_Ireduce) X(MPI_Iallreduce) X(MPI_Ireduce_scatter) \
  X(MPI_Ireduce_scatter_block) X(MPI_Iscan) X(MPI_Iexscan) X(MPI_Neighbor_allgather) \
  X(MPI_Neighbor_allgatherv) X(MPI_Neighbor_alltoall) X(MPI_Neighbor_alltoallv) X(MPI_Put) \
  X(MPI_Get) X(MPI_Accumulate) X(MPI_Get_accumulate) X(MPI_Fetch_and_op) X(MPI_Compare_and_swap) \
  X(MPI_Rput) X(MPI_Rget) X(MPI_Raccumulate) X(MPI_Rget_accumulate) \
  X(MPI_Win_fence) X(MPI_Win_lock) X(MPI_Win_unlock) X(MPI_Win_lock_all) X(MPI_Win_unlock_all) \
  X(MPI_Win_flush) X(MPI_Win_flush_all) X(MPI_Win_flush_local) X(MPI_Win_post) X(MPI_Win_start) \
  X(MPI_Win_complete) X(MPI_Win_wait) X(MPI_Comm_dup) X(MPI_Comm_split) X(MPI_Comm_create) \
  X(MPI_Comm_free) X(MPI_Comm_disconnect)
// clang-format on

namespace fabriscope::profile {

enum class Call : std::uint8_t {
#define FABRISCOPE_CALL_NUMBER(name) k##name,
  FABRISCOPE_CALLS(FABRISCOPE_CALL_NUMBER)
#undef FABRISCOPE_CALL_NUMBER
      kCount
};

constexpr auto kCallCount = static_cast<std::size_t>(Call::kCount);
constexpr std::size_t kNameBytes = 32;
using Name = std::array<char, kNameBytes>;

constexpr std::array<Name, kCallCount> kNames = {{
#define FABRISCOPE_CALL_NAME(name) Name{#name},
    FABRISCOPE_CALLS(FABRISCOPE_CALL_NAME)
#undef FABRISCOPE_CALL_NAME
}};

}  // namespace fabriscope::profile
