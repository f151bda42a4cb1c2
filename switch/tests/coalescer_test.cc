// What a host's card does with frames that arrive, on a made-up clock.
#include "coalescer.h"

#include <vector>

#include "check.h"

namespace fabriscope::lab {
namespace {

class Card {
 public:
  Card(std::int64_t wait_ns, std::int64_t frames) : coalescer(wait_ns, frames) {}
  void arrive(std::int64_t now_ns) { coalescer.add(pool_.take(), now_ns); }
  std::vector<std::int64_t> all() {
    std::vector<std::int64_t> due_ns;
    for (Delivery one = coalescer.take(kNever - 1); one.frame; one = coalescer.take(kNever - 1)) {
      due_ns.push_back(one.due_ns);
    }
    return due_ns;
  }

 private:
  FramePool pool_;  // outlives the frames that wait

 public:
  Coalescer coalescer;
};

TEST(without_coalescing_every_frame_is_handed_over_as_it_arrives) {
  Card card(0, 1);
  card.arrive(5);
  card.arrive(5);
  card.arrive(9);
  const std::vector<std::int64_t> expected{5, 5, 9};
  CHECK_EQUAL(card.all() == expected, true);
  CHECK_EQUAL(card.coalescer.next_ns(), kNever);
}

TEST(what_waits_goes_with_the_first_that_need_not) {
  Card card(100, 0);
  card.arrive(5);
  card.coalescer.set(0, 8);
  card.arrive(9);
  card.arrive(11);
  card.coalescer.set(50, 2);
  card.arrive(20);
  const std::vector<std::int64_t> expected{9, 9, 11, 70};
  CHECK_EQUAL(card.all() == expected, true);
}

TEST(a_frame_that_arrives_at_the_very_end_of_the_wait_goes_along) {
  Card card(100, 0);
  card.arrive(1000);
  card.arrive(1100);
  card.arrive(1101);
  const std::vector<std::int64_t> expected{1100, 1100, 1201};
  CHECK_EQUAL(card.all() == expected, true);
}

TEST(company_makes_those_that_wait_earlier) {
  Card card(100, 3);
  card.arrive(1000);
  CHECK_EQUAL(card.coalescer.next_ns(), 1100);
  card.arrive(1010);
  card.arrive(1020);
  CHECK_EQUAL(card.coalescer.next_ns(), 1020);
  card.arrive(1030);
  const std::vector<std::int64_t> expected{1020, 1020, 1020, 1130};
  CHECK_EQUAL(card.all() == expected, true);
}

TEST(no_frame_is_handed_over_before_it_is_due) {
  Card card(100, 0);
  card.arrive(1000);
  CHECK_EQUAL(card.coalescer.take(1099).frame == nullptr, true);
  CHECK_EQUAL(card.coalescer.take(1100).due_ns, 1100);
  card.arrive(1200);
  CHECK_EQUAL(card.coalescer.next_ns(), 1300);
}

}  // namespace
}  // namespace fabriscope::lab
