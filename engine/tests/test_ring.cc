#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "check.h"
#include "transports/ring.h"

using namespace fabriscope;

namespace {

constexpr std::size_t kCapacity = 64;

struct RingMemory {
  RingPositions positions{};
  unsigned char data[kCapacity] = {};
};

}  // namespace

TEST(bytes_come_out_in_order_around_the_end) {
  const auto memory = std::make_unique<RingMemory>();
  RingWriter writer(memory->positions, memory->data, kCapacity);
  RingReader reader(memory->positions, memory->data, kCapacity);
  std::vector<unsigned char> out(48);
  std::vector<unsigned char> in(48);
  for (unsigned char turn = 0; turn < 10; ++turn) {
    std::iota(out.begin(), out.end(), turn);
    CHECK(writer.has_room(out.size()));
    CHECK_EQUAL(writer.stage(out.data(), out.size()), out.size());
    CHECK(!reader.has_bytes(1));
    writer.publish();
    CHECK(reader.has_bytes(out.size()));
    CHECK_EQUAL(reader.take(in.data(), in.size()), in.size());
    reader.release();
    CHECK(in == out);
  }
}

TEST(a_full_ring_takes_no_more) {
  const auto memory = std::make_unique<RingMemory>();
  RingWriter writer(memory->positions, memory->data, kCapacity);
  const std::vector<unsigned char> out(100);
  CHECK_EQUAL(writer.stage(out.data(), out.size()), kCapacity);
  writer.publish();
  CHECK(!writer.has_room(1));
}

// On one mapping, where a thread sanitizer sees both sides.
TEST(two_threads_agree) {
  const auto memory = std::make_unique<RingMemory>();
  constexpr int kBytes = 200'000;
  std::thread producer([&memory] {
    RingWriter writer(memory->positions, memory->data, kCapacity);
    for (int i = 0; i < kBytes;) {
      const auto byte = static_cast<unsigned char>(i);
      if (!writer.has_room(1)) std::this_thread::yield();
      i += static_cast<int>(writer.stage(&byte, 1));
      writer.publish();
    }
  });
  RingReader reader(memory->positions, memory->data, kCapacity);
  int wrong = 0;
  for (int i = 0; i < kBytes;) {
    unsigned char byte = 0;
    if (!reader.has_bytes(1)) {
      std::this_thread::yield();
      continue;
    }
    reader.take(&byte, 1);
    reader.release();
    if (byte != static_cast<unsigned char>(i++)) ++wrong;
  }
  producer.join();
  CHECK_EQUAL(wrong, 0);
}
