// Programs that measure in turns: one at a time, whoever dies or stands still.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "check.h"
#include "fabriscope/error.h"
#include "helpers.h"
#include "spec.h"
#include "turns.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr std::int64_t kPatientNs = 60'000'000'000;

TurnSpec spec_of(const std::string& path, int member, int member_count) {
  return {path, member, member_count, 1'000'000};
}

bool is_there(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0;
}

constexpr std::int64_t kBudgetNs = 60'000'000;

std::string turn_items(const std::string& path, int member) {
  return "budget_ns " + std::to_string(kBudgetNs) + "\nturn_table " + path + "\nturn_member " +
         std::to_string(member) + "\nturn_member_count 2\nturn_ns 5000000\n";
}

// How long the engine's first turn was, as its line of turns says: "turns":[[0,start,end],...
std::int64_t first_turn_ns(const std::string& output) {
  const std::size_t at = output.find(R"("turns":[[0,)");
  long long start = 0;
  long long end = 0;
  CHECK_EQUAL(std::sscanf(output.c_str() + at, R"("turns":[[0,%lld,%lld])", &start, &end), 2);
  return end - start;
}

}  // namespace

TEST(one_measures_at_any_time_and_each_once_in_a_cycle) {
  const TemporaryFolder folder;
  constexpr int kMembers = 4;
  constexpr int kTurns = 20;
  std::atomic<int> measuring{0};
  std::atomic<int> overlaps{0};
  std::vector<std::vector<std::int64_t>> cycles(kMembers);
  std::vector<std::thread> threads;
  for (int member = 0; member < kMembers; ++member) {
    threads.emplace_back([&, member] {
      Turns turns(spec_of(folder.path("table"), member, kMembers), 7, kPatientNs);
      for (int turn = 0; turn < kTurns && turns.next(); ++turn) {
        if (++measuring != 1) ++overlaps;
        ::usleep(200);
        cycles[static_cast<std::size_t>(member)].push_back(turns.cycle());
        --measuring;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK_EQUAL(overlaps.load(), 0);
  for (const auto& of_member : cycles) {
    CHECK_EQUAL(of_member.size(), static_cast<std::size_t>(kTurns));
    CHECK(of_member == cycles.front());
  }
  CHECK(!is_there(folder.path("table")));
}

TEST(all_make_the_same_visits_in_a_cycle) {
  const TemporaryFolder folder;
  constexpr int kMembers = 3;
  constexpr int kCycles = 20;
  std::vector<std::map<std::int64_t, std::vector<std::int64_t>>> visits(kMembers);
  std::vector<std::thread> threads;
  for (int member = 0; member < kMembers; ++member) {
    threads.emplace_back([&, member] {
      Turns turns(spec_of(folder.path("table"), member, kMembers), 7, kPatientNs);
      std::int64_t visit = 0;
      while (turns.next() && turns.cycle() < kCycles) {
        visit = std::max(visit, turns.first_visit());
        auto& of_cycle = visits[static_cast<std::size_t>(member)][turns.cycle()];
        do {  // as the engine does, which asks after a visit: a turn has at least one
          of_cycle.push_back(visit++);
          ::usleep(static_cast<useconds_t>(100 + 200 * member));
        } while (!turns.is_over(visit));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::int64_t cycle = 0; cycle + 1 < kCycles; ++cycle) {
    const std::int64_t first = visits[0][cycle].front();
    const std::int64_t next = visits[0][cycle + 1].front();
    CHECK(next > first);
    for (auto& of_member : visits) {
      CHECK(!of_member[cycle].empty());
      CHECK_EQUAL(of_member[cycle].front(), first);
      CHECK(of_member[cycle].back() < next);
    }
  }
}

TEST(who_dies_with_the_turn_loses_it) {
  const TemporaryFolder folder;
  const std::string path = folder.path("table");
  int is_held[2];
  CHECK_EQUAL(::pipe(is_held), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    Turns turns(spec_of(path, 0, 2), 1, kPatientNs);
    while (turns.next()) {
      if (turns.cycle() == 0) continue;  // the other one is there, too
      if (::write(is_held[1], "!", 1) != 1) ::_exit(1);
      for (;;) ::pause();
    }
  }
  Turns turns(spec_of(path, 1, 2), 1, kPatientNs);
  CHECK(turns.next());
  std::thread killer([&] {
    char byte = 0;
    CHECK_EQUAL(::read(is_held[0], &byte, 1), 1);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  });
  for (int turn = 0; turn < 3; ++turn) CHECK(turns.next());
  killer.join();
  CHECK(turns.next());
  ::close(is_held[0]);
  ::close(is_held[1]);
}

TEST(who_stands_still_loses_the_turn_and_learns_of_it) {
  const TemporaryFolder folder;
  const std::string path = folder.path("table");
  Turns stuck(spec_of(path, 0, 2), 1, 1'000'000);
  std::atomic<bool> has_measured{false};
  std::thread other([&] {
    Turns turns(spec_of(path, 1, 2), 1, 1'000'000);
    CHECK(turns.next());
    CHECK(turns.next());  // past the one who stands still
    has_measured = true;
  });
  CHECK(stuck.next());
  CHECK(stuck.is_ours());
  other.join();
  CHECK(has_measured);
  CHECK(!stuck.is_ours());
  CHECK(stuck.next());  // it may come back
}

TEST(nobody_waits_for_who_has_left) {
  const TemporaryFolder folder;
  const std::string path = folder.path("table");
  auto first = std::make_unique<Turns>(spec_of(path, 0, 3), 1, kPatientNs);
  { const Turns left(spec_of(path, 1, 3), 1, kPatientNs); }
  { const Turns left(spec_of(path, 2, 3), 1, kPatientNs); }
  CHECK(first->next());
  CHECK(first->next());
  first.reset();
  CHECK(!is_there(path));
}

TEST(a_table_of_others_is_refused) {
  const TemporaryFolder folder;
  const std::string path = folder.path("table");
  CHECK_EQUAL(::symlink(folder.path("elsewhere").c_str(), path.c_str()), 0);
  CHECK_CONTAINS(MESSAGE_OF(std::system_error, Turns(spec_of(path, 0, 2), 1, kPatientNs)), path);
  CHECK(!is_there(folder.path("elsewhere")));
  const Turns of_three(spec_of(folder.path("three"), 0, 3), 1, kPatientNs);
  CHECK_CONTAINS(MESSAGE_OF(RunError, Turns(spec_of(folder.path("three"), 1, 2), 1, kPatientNs)),
                 "of a group of another size");
  CHECK_CONTAINS(MESSAGE_OF(RunError, Turns(spec_of(folder.path("three"), 0, 3), 1, kPatientNs)),
                 "has a member 0 already");
}

TEST(engines_take_turns_and_each_has_its_whole_budget) {
  const TemporaryFolder folder;
  const std::string cases = "case id=c benchmark=ping_pong message_size_bytes=8\n";
  std::vector<std::unique_ptr<Process>> engines;
  for (int member = 0; member < 2; ++member) {
    const std::string name = "engine" + std::to_string(member);
    const std::string spec =
        folder.write(name + ".spec", spec_with(cases, turn_items(folder.path("table"), member)));
    engines.push_back(std::make_unique<Process>(
        folder, name,
        std::vector<std::string>{"--transport", "shm", "--rendezvous", "threads", "--rank-count",
                                 "2", "--spec", spec}));
  }
  for (const auto& engine : engines) {
    CHECK_EQUAL(engine->wait(), kExitOk);
    CHECK_CONTAINS(engine->output(), R"({"type":"turns","member":)");
    CHECK_CONTAINS(engine->output(), R"("shared_burst_count":0,"turns":[[0,)");
    // A machine that stops the engine for long enough lets the budget pass in one turn.
    if (first_turn_ns(engine->output()) < kBudgetNs / 2) CHECK_CONTAINS(engine->output(), ",[1,");
    CHECK_CONTAINS(last_line(engine->output()), R"("status":"ok")");
  }
  CHECK(!is_there(folder.path("table")));
}

TEST(who_is_slow_and_has_spent_its_budget_makes_the_visits_alone_that_it_owes) {
  const TemporaryFolder folder;
  const std::array<std::string, 2> benchmarks = {"ping_pong message_size_bytes=8",
                                                 "many_to_one message_size_bytes=8 duration_ms=60"};
  std::vector<std::unique_ptr<Process>> engines;
  for (int member = 0; member < 2; ++member) {
    std::string cases;
    for (int index = 0; index < 6; ++index) {
      cases += "case id=c" + std::to_string(index) + " benchmark=" + benchmarks[member] + "\n";
    }
    const std::string name = "engine" + std::to_string(member);
    std::string items = turn_items(folder.path("table"), member);
    // longer than what eight turns hold is each visit of the one, whose budget is as good as none
    const std::string budget = member == 0 ? "600000000" : "1";
    items.replace(0, items.find('\n'), "budget_ns " + budget);
    engines.push_back(std::make_unique<Process>(
        folder, name,
        std::vector<std::string>{"--transport", "shm", "--rendezvous", "threads", "--rank-count",
                                 "2", "--spec",
                                 folder.write(name + ".spec", spec_with(cases, items))}));
  }
  for (const auto& engine : engines) CHECK_EQUAL(engine->wait(), kExitOk);
  for (int index = 0; index < 6; ++index) {
    const std::string block = R"("type":"stream_block","case":"c)" + std::to_string(index) + '"';
    CHECK_EQUAL(count_of(engines[1]->output(), block), 1U);
  }
}

TEST(a_place_outside_of_the_group_is_refused) {
  const std::string cases = "case id=c benchmark=empty message_size_bytes=0\n";
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_spec(spec_with(cases, turn_items("/x", 2)))),
                 "turn_member is 2, and the group has 2 members, from 0");
  CHECK_CONTAINS(MESSAGE_OF(UsageError, parse_spec(spec_with(cases, turn_items("x", 0)))),
                 "turn_table is 'x', not a path from /");
}
