#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.h"
#include "one_sided/stamps.h"

using namespace fabriscope;

namespace {

constexpr std::size_t kMessageBytes = 10'000;

template <typename Element>
bool shows_all_but(std::size_t missing_byte) {
  alignas(8) static unsigned char sent[kMessageBytes];
  alignas(8) static unsigned char arrived[kMessageBytes];
  const Stamps stamps = Stamps::of<Element>(kMessageBytes);
  stamps.fill(arrived, 6);
  stamps.fill(sent, 6);
  stamps.write(sent, 7);
  std::copy(sent, sent + kMessageBytes, arrived);
  // Nothing of this element has come.
  const auto old = static_cast<Element>(6);
  std::memcpy(arrived + missing_byte / sizeof(Element) * sizeof(Element), &old, sizeof old);
  return stamps.show(arrived, 7);
}

}  // namespace

TEST(a_message_shows_its_number_once_all_its_parts_are_there) {
  const std::vector<std::size_t> stamped{0, 4096, 8192, kMessageBytes - 1};
  for (const std::size_t missing : stamped) {
    CHECK(!shows_all_but<std::uint8_t>(missing));
    CHECK(!shows_all_but<std::int32_t>(missing));
    CHECK(!shows_all_but<std::int64_t>(missing));
    CHECK(!shows_all_but<float>(missing));
    CHECK(!shows_all_but<double>(missing));
  }
  CHECK(shows_all_but<std::uint8_t>(4097));
  CHECK(shows_all_but<double>(5000));
}

TEST(numbers_of_bytes_go_round) {
  unsigned char message[3] = {};
  const Stamps stamps = Stamps::of<std::uint8_t>(sizeof message);
  stamps.write(message, 257);
  CHECK(stamps.show(message, 257));
  CHECK(stamps.show(message, 1));
  CHECK(!stamps.show(message, 256));
}

TEST(sums_of_ones_show_how_many_there_were) {
  alignas(8) unsigned char sent[24];
  alignas(8) unsigned char memory[24];
  const Stamps stamps = Stamps::of<double>(sizeof sent);
  stamps.fill(sent, 1);
  stamps.fill(memory, 0);
  for (int number = 1; number <= 3; ++number) {
    for (std::size_t i = 0; i < 3; ++i) {
      double one = 0.0;
      double sum = 0.0;
      std::memcpy(&one, sent + 8 * i, 8);
      std::memcpy(&sum, memory + 8 * i, 8);
      sum += one;
      std::memcpy(memory + 8 * i, &sum, 8);
    }
    CHECK(stamps.show(memory, number));
    CHECK(!stamps.show(memory, number + 1));
  }
}
