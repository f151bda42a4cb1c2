// From which memory messages come, and to which they go.
#include <atomic>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "check.h"
#include "fabriscope/benchmark.h"
#include "fabriscope/buffers.h"
#include "fabriscope/burst_timer.h"
#include "helpers.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

// Moves nothing, and remembers where everything would have come from and gone to. A receive has to
// be the one that was expected, as over verbs.
class Notes : public Endpoint {
 public:
  using Place = std::pair<const void*, std::size_t>;

  void send(const void* data, std::size_t size_bytes) override { post_send(data, size_bytes); }
  void recv(void* data, std::size_t size_bytes) override { post_recv(data, size_bytes); }
  void reserve(std::size_t) override {}
  void post_send(const void* data, std::size_t size_bytes) override {
    sent.emplace_back(data, size_bytes);
  }
  void post_recv(void* data, std::size_t size_bytes) override {
    received.emplace_back(data, size_bytes);
    if (expected.empty()) return;
    CHECK(expected.front() == received.back());
    expected.pop_front();
  }
  void wait_all() override {}
  void expect(void* data, std::size_t size_bytes, std::size_t count) override {
    expected.insert(expected.end(), count, Place(data, size_bytes));
  }

  std::vector<Place> sent;
  std::vector<Place> received;
  std::deque<Place> expected;
};

class Alone : public Rendezvous {
 public:
  int rank() const override { return 0; }
  int rank_count() const override { return 2; }
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
  std::string broadcast(const std::string& text) override { return text; }
};

constexpr std::size_t kBytes = 100;  // takes two lines of the cache
constexpr std::size_t kPoolBytes = 4096;
constexpr std::int64_t kOperations = 5;

struct Memory {
  std::vector<unsigned char> send = std::vector<unsigned char>(kPoolBytes);
  std::vector<unsigned char> receive = std::vector<unsigned char>(kPoolBytes);
  std::size_t sent_from = 0;
  std::size_t received_at = 0;

  std::pair<Rotation, Rotation> places(BufferUse use) {
    if (use == BufferUse::kSame) return {Rotation(receive.data()), Rotation(receive.data())};
    if (use == BufferUse::kSeparate) return {Rotation(send.data()), Rotation(receive.data())};
    return {Rotation(send.data(), kPoolBytes, kBytes, sent_from),
            Rotation(receive.data(), kPoolBytes, kBytes, received_at)};
  }
};

Notes notes_of(const std::string& benchmark, BufferUse use, int rank, Memory& memory,
               std::size_t window_size = 3) {
  Notes notes;
  Alone rendezvous;
  const Parameters parameters;
  const std::vector<Endpoint*> endpoints{&notes};
  const auto [outgoing, incoming] = memory.places(use);
  const BenchmarkContext context{&notes,   endpoints,   rank,      2,       1 - rank,
                                 kBytes,   window_size, nullptr,   nullptr, outgoing,
                                 incoming, parameters,  rendezvous};
  std::atomic<std::int64_t> progress{0};
  BurstTimer timer(ClockKind::kSteady, nullptr, kOperations, 1, progress);
  benchmark_registry().create(benchmark)->run(context, timer);
  CHECK(notes.expected.empty());
  return notes;
}

std::set<const void*> places_of(const std::vector<Notes::Place>& messages) {
  std::set<const void*> found;
  for (const auto& [data, size_bytes] : messages) {
    if (size_bytes == kBytes) found.insert(data);
  }
  return found;
}

constexpr char kBufferCases[] =
    "case id=a benchmark=ping_pong message_size_bytes=8 buffers=same\n"
    "case id=b benchmark=ping_pong message_size_bytes=70000 buffers=separate\n"
    "case id=c benchmark=ping_pong message_size_bytes=70000 buffers=rotating\n"
    "case id=d benchmark=bandwidth message_size_bytes=3000 window_size=9 buffers=rotating\n"
    "case id=e benchmark=bidirectional_bandwidth message_size_bytes=3000 window_size=9 "
    "buffers=rotating\n"
    "case id=f benchmark=multi_pair_latency message_size_bytes=64 buffers=separate\n"
    "case id=g benchmark=message_rate message_size_bytes=64 window_size=4 buffers=rotating\n";

}  // namespace

TEST(a_pool_gives_every_place_before_it_gives_one_again) {
  std::vector<unsigned char> pool(1000);
  std::size_t at = 0;
  Rotation small(pool.data(), pool.size(), 1, at);
  Rotation large(pool.data(), pool.size(), 65, at);
  CHECK_EQUAL(small.stride(), 64U);
  CHECK_EQUAL(large.stride(), 128U);
  CHECK(small.next() == pool.data());
  CHECK(large.next() == pool.data() + 64);  // goes on where the other left off
  CHECK(large.next(6) == pool.data() + 192);
  CHECK(large.next() == pool.data());  // 40 bytes are left, which is too few
  Rotation only(pool.data());
  CHECK(only.next(7) == pool.data() && only.next() == pool.data());
  CHECK_EQUAL(only.stride(), 0U);
}

TEST(same_sends_from_where_it_has_received) {
  for (const char* benchmark : {"ping_pong", "multi_pair_latency"}) {
    for (const int rank : {0, 1}) {
      Memory memory;
      const Notes notes = notes_of(benchmark, BufferUse::kSame, rank, memory);
      CHECK_EQUAL(notes.sent.size(), static_cast<std::size_t>(kOperations));
      CHECK(places_of(notes.sent) == places_of(notes.received));
      CHECK_EQUAL(places_of(notes.sent).size(), 1U);
    }
  }
}

TEST(separate_sends_from_what_is_never_received_into) {
  for (const char* benchmark : {"ping_pong", "bidirectional_bandwidth"}) {
    for (const int rank : {0, 1}) {
      Memory memory;
      const Notes notes = notes_of(benchmark, BufferUse::kSeparate, rank, memory);
      CHECK(places_of(notes.sent) == std::set<const void*>{memory.send.data()});
      CHECK(places_of(notes.received) == std::set<const void*>{memory.receive.data()});
    }
  }
}

TEST(rotating_moves_every_message_through_a_place_of_its_own) {
  for (const char* benchmark : {"ping_pong", "bandwidth", "bidirectional_bandwidth"}) {
    for (const int rank : {0, 1}) {
      Memory memory;
      const Notes notes = notes_of(benchmark, BufferUse::kRotating, rank, memory);
      for (const auto& messages : {notes.sent, notes.received}) {
        std::size_t count = 0;
        for (const auto& [data, size_bytes] : messages) count += size_bytes == kBytes ? 1 : 0;
        CHECK_EQUAL(places_of(messages).size(), count);
      }
      // The next burst goes on behind this one, and comes back when the pool has ended.
      const std::set<const void*> first = places_of(notes.sent);
      const std::set<const void*> second =
          places_of(notes_of(benchmark, BufferUse::kRotating, rank, memory, 2).sent);
      for (const void* place : second) CHECK_EQUAL(first.count(place), 0U);
    }
  }
}

TEST(every_use_of_buffers_is_measured_and_checked) {
  for (const char* transport : {"shm", "tcp"}) {
    const Ran ran = run_in_threads(
        transport, spec_with(kBufferCases, "budget_ns 20000000\npool_bytes 1048576\n"));
    CHECK_EQUAL(ran.exit_code, kExitOk);
    CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 0U);
    CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 7U);
    CHECK_CONTAINS(ran.output, R"("type":"pool","pool_bytes":1048576)");
    CHECK_EQUAL(count_of(ran.output, R"("type":"endpoint")"), 1U);
  }
  const Ran bad = run_in_threads("corrupting", spec_with(kBufferCases, "pool_bytes 1048576\n"));
  for (const char* id : {"b", "c"}) {
    CHECK_CONTAINS(bad.output, std::string(R"("verification","case":")") + id + R"(","ok":false)");
  }
}

TEST(a_pool_holds_twice_what_is_under_way) {
  const Ran ran = run_in_threads(
      "shm", spec_with("case id=a benchmark=bandwidth message_size_bytes=100000 window_size=32 "
                       "buffers=rotating\n",
                       "budget_ns 1000000\npool_bytes 4096\n"));
  // 100,000 bytes in whole lines, 32 of them, twice.
  CHECK_CONTAINS(ran.output, R"("pool_bytes":6402048,)");
  CHECK_CONTAINS(last_line(ran.output), R"("status":"ok")");
}

TEST(pools_that_memory_cannot_hold_fail_their_cases_alone) {
  const std::string huge =
      "case id=h benchmark=bandwidth message_size_bytes=16777216 window_size=65536 "
      "buffers=rotating\n";
  const Ran ran = run_in_threads("shm", spec_with(kBufferCases + huge, "budget_ns 1000000\n"));
  CHECK_EQUAL(ran.exit_code, kExitOk);
  CHECK_EQUAL(count_of(ran.output, R"("type":"failure")"), 5U);
  // Twice a window: more than any machine has, two for each of two ranks.
  CHECK_CONTAINS(ran.output,
                 R"("case":"c","reason":"rank 0: rotating buffers need two pools of 2097152 MiB)");
  CHECK_EQUAL(count_of(ran.output, R"("ok":true)"), 3U);
}

TEST(an_unknown_use_is_named_and_the_others_run) {
  const Ran ran = run_in_threads(
      "shm", spec_with("case id=a benchmark=bandwidth message_size_bytes=8 buffers=same\n"
                       "case id=b benchmark=ping_pong message_size_bytes=8 buffers=two\n"
                       "case id=c benchmark=incast message_size_bytes=8 buffers=separate\n"
                       "case id=d benchmark=ping_pong message_size_bytes=8\n"));
  CHECK_CONTAINS(ran.output, "buffers is 'same', not one of separate, rotating");
  CHECK_CONTAINS(ran.output, "buffers is 'two', not one of same, separate, rotating");
  CHECK_CONTAINS(ran.output, "the shm transport takes no option 'buffers'");
  CHECK_CONTAINS(ran.output, R"("block","case":"d")");
}
