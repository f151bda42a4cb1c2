// Programs that measure in turns: of a group of them exactly one measures at any time, and the
// others sleep in the kernel.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "net/unique_fd.h"

namespace fabriscope {

struct TurnSpec {
  std::string table_path;  // empty: this program measures whenever it likes
  int member = 0;          // which of the group this one is
  int member_count = 1;
  std::int64_t turn_ns = 20'000'000;
};

// One turn of this program, of its own clock's times.
struct Turn {
  std::int64_t cycle = 0;  // in each cycle every member that waits has one turn
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

// The group's table is a file that all members map, on the host that their ranks 0 share. A member
// holds a lock on a byte of it: who dies loses the lock, and with it its place. The order of the
// members is drawn anew in each cycle.
//
// All members make the same visits in a cycle, so that what is compared is measured in neighbouring
// turns: who has the first turn of a cycle makes as many as it has time for, and the others follow.
class Turns {
 public:
  static constexpr int kMostMembers = 64;
  // How many times as long as others a turn may be.
  static constexpr std::int64_t kSlowest = 8;
  // How long those that are ready wait for those that are not.
  static constexpr std::int64_t kGatherNs = 20'000'000'000;

  // Joins; who waits longer for a turn than `overdue_ns` takes the one who has it to be stuck, and
  // goes on without it. Throws RunError where the table is not ours or not of this group.
  Turns(const TurnSpec& spec, std::uint64_t seed, std::int64_t overdue_ns);
  ~Turns();  // leaves
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;

  // Gives a turn back where this member has one, and sleeps until the next. False where a signal
  // asks for an end.
  bool next();
  // False where this member was taken to be stuck: others have measured meanwhile.
  bool is_ours() const;
  // Where this cycle begins, in visits that the group has made.
  std::int64_t first_visit() const { return table_->first_visit; }
  // Whether the turn ends before the visit of that number: at this cycle's goal, which the first
  // member sets when its turn was as long as a turn is; and of who is much slower than that one.
  bool is_over(std::int64_t next_visit);
  std::int64_t cycle() const { return cycle_; }
  // Of the group, that of its first member: what is drawn from it is drawn alike by all members.
  std::uint64_t seed() const { return table_->seed; }

 private:
  enum State : std::uint32_t { kAbsent, kWaiting, kGone };

  struct Member {
    std::atomic<std::uint32_t> state;
    std::atomic<std::uint32_t> bell;  // a futex: rings when this member's turn begins
  };

  struct Table {
    std::atomic<std::uint32_t> member_count;
    std::atomic<std::uint32_t> holder;  // 1 + the member whose turn it is; 0: nobody's
    std::atomic<std::uint32_t> place;   // of the next one in the cycle's order
    std::atomic<std::uint32_t> has_begun;
    std::atomic<std::uint64_t> seed;  // of the orders
    std::atomic<std::int64_t> cycle;
    std::atomic<std::int64_t> first_visit;
    std::atomic<std::int64_t> goal;  // not beyond first_visit: nobody has set it
    std::atomic<std::int64_t> gathering_since_ns;
    std::atomic<std::int64_t> turn_since_ns;
    std::array<Member, kMostMembers> members;
  };

  class Locked;

  void open_table(std::uint64_t seed);
  bool all_are_here() const;
  bool is_alive(int member) const;
  void choose();  // the next holder; inside Locked
  void begin_cycle();
  bool give_turn_to(int member);
  void look();  // whether nobody holds the turn, or somebody who died or is stuck
  void sleep(std::uint32_t bell);
  Member& self() { return table_->members[static_cast<std::size_t>(spec_.member)]; }
  std::uint32_t name() const { return static_cast<std::uint32_t>(spec_.member) + 1; }

  TurnSpec spec_;
  std::int64_t overdue_ns_;
  UniqueFd file_;
  Table* table_ = nullptr;
  std::int64_t began_ns_ = 0;
  std::int64_t cycle_ = 0;
};

}  // namespace fabriscope
