// How rank 0 wakes the other ranks where the library that brought them together would have them
// wait at full speed, as MPI libraries do: a TCP connection to each, on which they sleep.
#pragma once

#include <functional>
#include <vector>

#include "fabriscope/rendezvous.h"
#include "unique_fd.h"

namespace fabriscope {

class BellLines {
 public:
  // Called by all ranks at once. Where a rank cannot reach rank 0 there are no lines.
  explicit BellLines(Rendezvous& rendezvous);

  bool are_open() const { return are_open_; }
  // At rank 0: wakes all others. Elsewhere: sleeps until then. Throws RunError where a rank is
  // gone.
  void ring();
  void sleep();

 private:
  void let_in(int rank_count, int listener, const std::string& token);

  bool are_open_ = false;
  std::vector<UniqueFd> lines_;  // at rank 0 to every other one, elsewhere to rank 0
};

}  // namespace fabriscope
