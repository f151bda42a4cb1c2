// What a library hears that is loaded into a benchmark program (LD_PRELOAD): begin and end of each
// operation.
//
// $OVERHEARD names the files: $OVERHEARD-speaks appears once a process was heard, with
// $OVERHEARD_LATER once it is ready as well. When a process ends, begin and end of its operations
// (CLOCK_MONOTONIC) go to $OVERHEARD.<pid>, as 64-bit nanoseconds.
#ifndef FABRISCOPE_BENCHMARKS_OVERHEARD_H
#define FABRISCOPE_BENCHMARKS_OVERHEARD_H

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace overheard {

constexpr std::size_t kMost = 1 << 20;
constexpr std::size_t kLeast = 16;  // fewer are somebody's hand-shake

struct Operation {
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

inline Operation operations[kMost];
inline std::size_t count = 0;

inline std::int64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

inline void write_file(const char* ending, const Operation* content, std::size_t length) {
  const char* const prefix = std::getenv("OVERHEARD");
  if (prefix == nullptr) return;
  char path[4096];
  std::snprintf(path, sizeof path, "%s%s", prefix, ending);
  std::FILE* const file = std::fopen(path, "wb");
  if (file == nullptr) return;
  std::fwrite(content, sizeof(Operation), length, file);
  std::fclose(file);
}

// Whether the process may be stopped; a program that is measuring for itself how long it takes has
// to be let.
inline bool may_speak = std::getenv("OVERHEARD_LATER") == nullptr;

inline void hear(std::int64_t begin_ns, std::int64_t end_ns) {
  static bool has_spoken = false;
  if (count == kMost) return;
  operations[count++] = {begin_ns, end_ns};
  if (has_spoken || !may_speak || count < kLeast) return;
  has_spoken = true;
  write_file("-speaks", nullptr, 0);
}

__attribute__((destructor)) static void keep() {
  if (count < kLeast) return;
  char ending[32];
  std::snprintf(ending, sizeof ending, ".%d", static_cast<int>(getpid()));
  write_file(ending, operations, count);
}

}  // namespace overheard

#endif
