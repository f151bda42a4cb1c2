// How an origin's operations become complete, and what the target has to do for that.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <memory>
#include <string>

#include "window.h"

namespace fabriscope {

class Synchronization {
 public:
  // lock, lock_all, flush, fence or pscw. Throws CaseError for another name.
  static std::unique_ptr<Synchronization> create(const std::string& name, const Window& window);

  virtual ~Synchronization() = default;
  Synchronization(const Synchronization&) = delete;
  Synchronization& operator=(const Synchronization&) = delete;

  // Whether the target takes part: it then knows without a look when the data are there.
  virtual bool is_active() const { return false; }

  // At both ranks, before and after all operations of a burst.
  virtual void begin() {}
  virtual void end() {}
  // At the origin, around its operations.
  virtual void open() {}
  virtual void close() {}
  // At the target, around the operations of the other.
  virtual void expose() {}
  virtual void conceal() {}
  // Where both are origin and target at once.
  virtual void open_both() {
    expose();
    open();
  }
  virtual void close_both() {
    close();
    conceal();
  }

 protected:
  explicit Synchronization(const Window& window)
      : handle_(window.handle()), peer_(window.peer()), peer_group_(window.peer_group()) {}

  MPI_Win handle_;
  int peer_;
  MPI_Group peer_group_;
};

}  // namespace fabriscope

#endif
