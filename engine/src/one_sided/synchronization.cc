#include "synchronization.h"

#ifdef FABRISCOPE_WITH_MPI

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// One lock of the target for each operation.
class Lock : public Synchronization {
 public:
  explicit Lock(const Window& window) : Synchronization(window) {}
  void open() override { MPI_Win_lock(MPI_LOCK_SHARED, peer_, 0, handle_); }
  void close() override { MPI_Win_unlock(peer_, handle_); }
};

class LockAll : public Synchronization {
 public:
  explicit LockAll(const Window& window) : Synchronization(window) {}
  void open() override { MPI_Win_lock_all(0, handle_); }
  void close() override { MPI_Win_unlock_all(handle_); }
};

// One lock for the whole burst, and a flush for each operation.
class Flush : public Synchronization {
 public:
  explicit Flush(const Window& window) : Synchronization(window) {}
  void begin() override { MPI_Win_lock(MPI_LOCK_SHARED, peer_, 0, handle_); }
  void close() override { MPI_Win_flush(peer_, handle_); }
  void end() override { MPI_Win_unlock(peer_, handle_); }
};

// The fence that closes one operation opens the next.
class Fence : public Synchronization {
 public:
  explicit Fence(const Window& window) : Synchronization(window) {}
  bool is_active() const override { return true; }
  void begin() override { MPI_Win_fence(MPI_MODE_NOPRECEDE, handle_); }
  void close() override { MPI_Win_fence(0, handle_); }
  void conceal() override { MPI_Win_fence(0, handle_); }
  void close_both() override { MPI_Win_fence(0, handle_); }
  void end() override { MPI_Win_fence(MPI_MODE_NOSUCCEED, handle_); }
};

// Post, start, complete, wait.
class Pscw : public Synchronization {
 public:
  explicit Pscw(const Window& window) : Synchronization(window) {}
  bool is_active() const override { return true; }
  void open() override { MPI_Win_start(peer_group_, 0, handle_); }
  void close() override { MPI_Win_complete(handle_); }
  void expose() override { MPI_Win_post(peer_group_, 0, handle_); }
  void conceal() override { MPI_Win_wait(handle_); }
};

}  // namespace

std::unique_ptr<Synchronization> Synchronization::create(const std::string& name,
                                                         const Window& window) {
  if (name == "lock") return std::make_unique<Lock>(window);
  if (name == "lock_all") return std::make_unique<LockAll>(window);
  if (name == "flush") return std::make_unique<Flush>(window);
  if (name == "fence") return std::make_unique<Fence>(window);
  if (name == "pscw") return std::make_unique<Pscw>(window);
  throw CaseError("there is no synchronization '" + name +
                  "'; known are: fence, flush, lock, lock_all, pscw");
}

}  // namespace fabriscope

#endif
