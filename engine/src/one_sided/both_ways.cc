#include "both_ways.h"

#ifdef FABRISCOPE_WITH_MPI

#include "fabriscope/burst_timer.h"

namespace fabriscope {

void BothWays::measure(Side& side, bool /*is_first*/, BurstTimer& timer) {
  Synchronization& synchronization = side.synchronization();
  std::int64_t number = 0;
  const auto exchange = [&] {
    synchronization.open_both();
    side.start();
    synchronization.close_both();
  };
  if (!has_far_check()) {
    timer.run(exchange);
    return;
  }
  // Both answer: the next window would else overwrite what the other has not seen yet.
  timer.run([&] {
    side.mark(++number);
    exchange();
    side.await(number);
    synchronization.open_both();
    side.start_answer(number);
    synchronization.close_both();
    side.await_answer(number);
  });
}

}  // namespace fabriscope

#endif
