#include "copy_rate.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>

#include "fabriscope/clock.h"
#include "json.h"

namespace fabriscope {
namespace {

constexpr std::size_t kLeastBytes = 4U << 10;
constexpr std::size_t kMostBytes = 64U << 20;
// From one size to the next: 4 KiB, 16 KiB and so on.
constexpr std::size_t kStep = 4;
// A copy of few bytes is shorter than what reading the clock costs: as many are timed together.
constexpr std::size_t kTimedBytes = 1U << 20;
// The best of all sizes is known early, but a processor at rest takes its time to reach its highest
// clock: hence several passes over all sizes.
constexpr int kPasses = 8;
constexpr std::int64_t kBudgetNs = 250'000'000;

using Copy = void (*)(unsigned char* to, const unsigned char* from, std::size_t size_bytes);

void copy_by_library(unsigned char* to, const unsigned char* from, std::size_t size_bytes) {
  std::memcpy(to, from, size_bytes);
}

#if defined(__x86_64__)
// As kernels copy to and from programs: on some processors it is faster than the library's loop.
void copy_by_string_move(unsigned char* to, const unsigned char* from, std::size_t size_bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size_bytes) : : "memory");
}
#endif

// The compiler may not leave out a copy that nothing reads.
void keep(const unsigned char* memory) { __asm__ volatile("" : : "r"(memory) : "memory"); }

struct Buffers {
  std::unique_ptr<unsigned char[]> from;
  std::unique_ptr<unsigned char[]> to;
  std::size_t size_bytes = 0;
};

// Touched: a copy out of pages that were never written is one of the zero page.
Buffers allocate() {
  for (std::size_t size_bytes = kMostBytes; size_bytes > kLeastBytes; size_bytes /= kStep) {
    Buffers buffers{std::unique_ptr<unsigned char[]>(new (std::nothrow) unsigned char[size_bytes]),
                    std::unique_ptr<unsigned char[]>(new (std::nothrow) unsigned char[size_bytes]),
                    size_bytes};
    if (!buffers.from || !buffers.to) continue;
    std::memset(buffers.from.get(), 1, size_bytes);
    std::memset(buffers.to.get(), 2, size_bytes);
    return buffers;
  }
  throw std::bad_alloc();
}

// The best rate of one size within the time.
double best_rate(Copy copy, const Buffers& buffers, std::size_t size_bytes, std::int64_t time_ns) {
  const std::size_t count = std::max<std::size_t>(1, kTimedBytes / size_bytes);
  double best = 0.0;
  const std::int64_t end_ns = SteadyClock::now() + time_ns;
  std::int64_t begin_ns = SteadyClock::now();
  do {
    for (std::size_t i = 0; i < count; ++i) {
      copy(buffers.to.get(), buffers.from.get(), size_bytes);
      keep(buffers.to.get());
    }
    const std::int64_t now_ns = SteadyClock::now();
    const auto taken_ns = static_cast<double>(std::max<std::int64_t>(1, now_ns - begin_ns));
    best = std::max(best, static_cast<double>(count * size_bytes) * 1e9 / taken_ns);
    begin_ns = now_ns;
  } while (begin_ns < end_ns);
  return best;
}

}  // namespace

CopyRate measure_copy_rate(std::int64_t budget_ns) {
#if defined(__x86_64__)
  constexpr Copy kCopies[] = {copy_by_library, copy_by_string_move};
#else
  constexpr Copy kCopies[] = {copy_by_library};
#endif
  const Buffers buffers = allocate();
  std::int64_t series_count = kPasses * static_cast<std::int64_t>(std::size(kCopies));
  for (std::size_t bytes = kLeastBytes; bytes < buffers.size_bytes; bytes *= kStep) {
    series_count += kPasses * static_cast<std::int64_t>(std::size(kCopies));
  }
  const std::int64_t time_ns = budget_ns / series_count;
  CopyRate best{0.0, 0};
  for (int pass = 0; pass < kPasses; ++pass) {
    for (std::size_t bytes = kLeastBytes; bytes <= buffers.size_bytes; bytes *= kStep) {
      for (const Copy copy : kCopies) {
        const double rate = best_rate(copy, buffers, bytes, time_ns);
        if (rate > best.bytes_per_s) best = {rate, bytes};
      }
    }
  }
  return best;
}

std::string copy_rate_text() {
  const CopyRate rate = measure_copy_rate(kBudgetNs);
  return JsonObject()
      .add("type", "copy_rate")
      .add("bytes_per_s", rate.bytes_per_s)
      .add("buffer_bytes", static_cast<std::int64_t>(rate.buffer_bytes))
      .text();
}

}  // namespace fabriscope
