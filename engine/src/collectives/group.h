// The communicator that the operations of all ranks share, and how their ranks share out what they
// send.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

namespace fabriscope {

// One for all of them in a process, since an MPI library has few to give.
class Group {
 public:
  Group();
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  // Made when it is first asked for, and ended with its last user, which is before MPI_Finalize.
  // Called by every rank at once.
  static std::shared_ptr<Group> join();

  MPI_Comm communicator() const { return communicator_; }
  int rank() const { return rank_; }
  int rank_count() const { return rank_count_; }

 private:
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int rank_count_ = 1;
};

// How many elements each rank has, and where they stand in a buffer that holds those of all ranks.
struct Places {
  std::vector<int> counts;
  std::vector<int> displacements;

  // One block for each rank, in their order: what OSU's and Intel's benchmarks time.
  static Places even(int rank_count, std::size_t count);
  // Blocks in the opposite order, every second one half empty. `shift` turns the ranks, so that
  // what one rank sends to another is what that one expects.
  static Places uneven(int rank_count, std::size_t count, int shift);
  // One vector cut into as equal parts as possible, the larger ones first.
  static Places split(int rank_count, std::size_t count);
};

}  // namespace fabriscope

#endif
