// Memory that ranks 0 and 1 open to each other's operations.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <string>

#include "../message_buffer.h"

namespace fabriscope {

// The window, and the buffers that this rank's own operations read from and bring into.
class Window {
 public:
  // The one for a kind of memory, as long as anybody holds it: an MPI library has room for some
  // hundred windows and a run may have more cases. Called by every rank in the same order. Throws
  // CaseError for a kind that there is not.
  static std::shared_ptr<Window> of(const std::string& memory);

  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  // At every rank at once, outside of any burst: room for at least this many bytes. Throws
  // CaseError where the MPI library refuses, perhaps at this rank alone.
  void reserve(std::size_t exposed_bytes, std::size_t source_bytes, std::size_t result_bytes);

  // Ranks 0 and 1 do; the others own nothing here.
  bool takes_part() const { return pair_ != MPI_COMM_NULL; }
  int rank() const { return rank_; }
  int peer() const { return 1 - rank_; }
  MPI_Win handle() const { return handle_; }
  MPI_Group peer_group() const { return peer_group_; }
  // Where the peer's exposed memory begins, in the window's own terms.
  MPI_Aint peer_displacement() const { return peer_displacement_; }
  // Whether what an operation wrote shows in ordinary loads without a further call.
  bool is_unified() const;

  unsigned char* exposed() const { return exposed_; }
  unsigned char* source() { return source_.data(); }
  unsigned char* result() { return result_.data(); }

  void barrier() const { MPI_Barrier(pair_); }
  // Lets the library work on what the peer has asked for: few have a thread that does.
  void progress() const {
    int flag = 0;
    MPI_Iprobe(peer(), 0, pair_, &flag, MPI_STATUS_IGNORE);
  }

 private:
  struct Memory;
  explicit Window(const Memory& memory);
  int create(std::size_t exposed_bytes);
  void release();

  int allocate(MPI_Aint size_bytes);
  int create_over_own(MPI_Aint size_bytes);
  int attach_own(MPI_Aint size_bytes);

  const Memory& memory_;
  MPI_Comm pair_ = MPI_COMM_NULL;
  MPI_Group peer_group_ = MPI_GROUP_NULL;
  int rank_ = 0;
  MPI_Win handle_ = MPI_WIN_NULL;
  bool is_attached_ = false;
  unsigned char* exposed_ = nullptr;
  MPI_Aint peer_displacement_ = 0;
  std::size_t exposed_bytes_ = 0;
  std::size_t source_bytes_ = 0;
  std::size_t result_bytes_ = 0;
  MessageBuffer own_;
  MessageBuffer source_;
  MessageBuffer result_;
};

}  // namespace fabriscope

#endif
