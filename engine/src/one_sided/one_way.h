// Rank 0 does something to rank 1.
#pragma once

#include "one_sided.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {

// With the far check an operation ends when rank 1 has seen what was written in its memory and has
// answered: to a single message by one of the same kind, so that an operation is two of them, and
// to a window by 4 bytes, as in the benchmark bandwidth. Without it, and for what brings something
// back by itself, an operation ends when the synchronization at rank 0 has returned.
class OneWay : public OneSided {
 public:
  enum class Unit { kMessage, kWindow };
  OneWay(const Operation& operation, Unit unit)
      : OneSided(operation), has_window_(unit == Unit::kWindow) {}

 protected:
  bool has_window() const override { return has_window_; }
  void measure(Side& side, bool is_first, BurstTimer& timer) override;

 private:
  bool has_window_;
};

}  // namespace fabriscope

#endif
