#pragma once

#include <mpi.h>

#include <cstdint>

namespace fabriscope::profile {

// What is known of a communicator.
struct Communicator {
  std::uint32_t size = 0;
  std::uint32_t group = 0;  // Its number in the file.
  // Ranks of MPI_COMM_WORLD by rank of the peers: of the other side, where there are two.
  std::uint32_t* world = nullptr;
  bool is_world = false;
  // Of a topology: how many ranks this one sends to.
  std::uint32_t neighbours = 0;

  // Returns the rank in MPI_COMM_WORLD of a rank as calls name it.
  [[nodiscard]] std::uint32_t peer(int rank) const;
};

// Returns what is known of a communicator that a call has just succeeded with; asked of the library
// the first time.
const Communicator& communicator(MPI_Comm handle);
// Forgets a communicator that is gone: another one may be given its handle.
void forget_communicator(MPI_Comm handle);

MPI_Comm world_handle();
MPI_Datatype byte_handle();

std::uint64_t type_bytes(MPI_Datatype type);
// Forgets a type that is gone: another one may be given its handle.
void forget_type(MPI_Datatype type);
inline std::uint64_t bytes_of(long long count, MPI_Datatype type) {
  return count <= 0 ? 0 : static_cast<std::uint64_t>(count) * type_bytes(type);
}

}  // namespace fabriscope::profile
