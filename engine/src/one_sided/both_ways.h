// Rank 0 and rank 1 do the same to each other at once.
#pragma once

#include "one_sided.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {

// A window each way. With the far check an operation ends at rank 0 when it has seen the other's
// messages and 4 bytes have said that the other has seen its own. Without it, when the
// synchronization has returned.
class BothWays : public OneSided {
 public:
  using OneSided::OneSided;

 protected:
  bool has_window() const override { return true; }
  bool is_bidirectional() const override { return true; }
  void measure(Side& side, bool is_first, BurstTimer& timer) override;
};

}  // namespace fabriscope

#endif
