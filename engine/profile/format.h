#pragma once

#include <array>
#include <cstdint>

#include "calls.h"

// The file of one rank, in the machine's own byte order:
//   Header, kCallCount names, kMostGroups groups, entry_count entries.
// It is mapped while the program runs, so that what was counted is in it whatever ends the process;
// MPI_Finalize cuts off the entries that were not used. src/fabriscope/readers/mpi_profile.py reads
// it; docs/profile.md says what is what.
namespace fabriscope::profile {

constexpr std::array<char, 8> kMagic = {'f', 'a', 'b', 'p', 'r', 'o', 'f', '1'};
constexpr std::uint32_t kMostEntries = 4096;
// Beyond these, peers are no longer told apart: what they are sent still counts.
constexpr std::uint32_t kEntriesWithPeers = 3072;
constexpr std::uint32_t kMostGroups = 64;
constexpr std::uint32_t kMembersShown = 60;
constexpr std::uint32_t kNobody = 0xffffffff;
constexpr std::uint32_t kAnybody = 0xfffffffe;

constexpr std::uint32_t kOneThread = 0;  // One at a time calls MPI.
constexpr std::uint32_t kManyThreads = 1;

enum class State : std::uint32_t { kRunning = 0, kFinalized = 1, kAborted = 2, kExited = 3 };

struct Header {
  std::array<char, 8> magic;
  std::uint32_t header_bytes;
  std::uint32_t call_count;
  std::uint32_t group_limit;
  std::uint32_t entry_limit;
  std::uint32_t state;
  std::uint32_t rank;
  std::uint32_t rank_count;
  std::uint32_t group_count;
  std::uint32_t entry_count;
  std::uint32_t threads;
  std::uint64_t started_unix_ns;
  std::uint64_t job;  // Of the job's name, where the launcher tells one.
  // Two moments on both clocks, from which a tick's length follows.
  std::uint64_t first_tick;
  std::uint64_t first_ns;
  std::uint64_t second_tick;
  std::uint64_t second_ns;
  // The end of MPI_Init, or MPI_Pcontrol(2).
  std::uint64_t begin_tick;
  // The end of the last call that was counted, or the begin of MPI_Finalize.
  std::uint64_t last_tick;
  // Between MPI_Pcontrol(0) and (1), or the end.
  std::uint64_t paused_ticks;
  // Calls that found no room among the entries, and their time.
  std::uint64_t lost_calls;
  std::uint64_t lost_ticks;
  std::uint64_t untracked_requests;
  // That returned an error: nothing else is counted of them.
  std::uint64_t failed_calls;
  // What 1024 counted calls take beyond the calls.
  std::uint64_t cost_ticks_of_1024;
  std::array<char, 64> host;
  std::array<char, 256> program;
  std::array<char, 128> library;
};

// The ranks of a communicator, as ranks of MPI_COMM_WORLD; communicators of the same ranks are one
// group.
struct Group {
  std::uint32_t size;
  std::uint32_t listed;  // Members that follow, at most kMembersShown.
  std::uint64_t digest;
  std::array<std::uint32_t, kMembersShown> members;
};

// What calls of one kind, size class and peer (of collectives: group) came to. Class 0 is 0 bytes,
// class k from 2^(k-2) + 1 to 2^(k-1) bytes. The key is never 0.
struct Entry {
  std::uint64_t key;
  std::uint64_t count;
  std::uint64_t bytes;
  std::uint64_t ticks;
};

constexpr std::uint64_t kKeyInUse = std::uint64_t{1} << 63;

constexpr std::uint64_t key_of(Call call, unsigned size_class, std::uint32_t who) {
  return kKeyInUse | std::uint64_t{static_cast<std::uint8_t>(call)} << 40 |
         std::uint64_t{size_class} << 32 | who;
}

inline unsigned size_class(std::uint64_t bytes) {
  if (bytes <= 1) return static_cast<unsigned>(bytes);
  return 65 - static_cast<unsigned>(__builtin_clzll(bytes - 1));
}

}  // namespace fabriscope::profile
