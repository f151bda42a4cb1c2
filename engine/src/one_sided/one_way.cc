#include "one_way.h"

#ifdef FABRISCOPE_WITH_MPI

#include "fabriscope/burst_timer.h"

namespace fabriscope {

void OneWay::measure(Side& side, bool is_first, BurstTimer& timer) {
  Synchronization& synchronization = side.synchronization();
  std::int64_t number = 0;
  const auto send = [&] {
    synchronization.open();
    side.start();
    synchronization.close();
  };
  const auto receive = [&] {
    synchronization.expose();
    synchronization.conceal();
  };
  const auto round_trips = [&](auto start_answer, auto await_answer) {
    if (is_first) {
      timer.run([&] {
        side.mark(++number);
        send();
        receive();
        await_answer();
      });
    } else {
      timer.run([&] {
        receive();
        side.await(++number);
        synchronization.open();
        start_answer();
        synchronization.close();
      });
    }
  };
  if (has_far_check() && has_window_) {
    round_trips([&] { side.start_answer(number); }, [&] { side.await_answer(number); });
  } else if (has_far_check()) {
    const auto start_in_kind = [&] {
      side.mark(number);
      side.start();
    };
    round_trips(start_in_kind, [&] { side.await(number); });
  } else if (is_first) {
    timer.run(send);
  } else {
    timer.run(receive);
  }
}

}  // namespace fabriscope

#endif
