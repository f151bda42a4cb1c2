#include "trial.h"

#ifdef FABRISCOPE_WITH_MPI

#include <cstring>
#include <vector>

namespace fabriscope {

Trial::Trial(const OneSidedCase& its_case, std::uint64_t seed, int target, bool is_expected)
    : case_(its_case), seed_(seed), is_expected_(is_expected) {
  const bool could_change = case_.operation.writes && case_.reduction != "no_op" && is_expected_ &&
                            case_.message_size_bytes > 0;
  // Or an operation that does nothing might pass: the larger of two numbers may be there already.
  while (could_change && !changes(target)) ++seed_;
}

TestValues Trial::values() const {
  const bool combines =
      !case_.reduction.empty() && case_.reduction != "replace" && case_.reduction != "no_op";
  return {case_.element_type, combines ? parse_reduction(case_.reduction) : Reduction::kNone, 2,
          seed_};
}

bool Trial::changes(int target) const {
  std::vector<unsigned char> old(case_.message_size_bytes);
  std::vector<unsigned char> fresh(case_.message_size_bytes);
  before(old.data(), target, 0);
  after(fresh.data(), target, 0);
  return old != fresh;
}

void Trial::before(unsigned char* out, int rank, std::size_t message) const {
  const auto count = static_cast<std::size_t>(case_.count);
  values().sent(out, rank, message * count, count);
}

void Trial::sent(unsigned char* out, int rank) const { before(out, rank, 0); }

void Trial::comparison(unsigned char* out, int target) const {
  before(out, target, 0);
  if (!is_expected_) out[0] ^= 1U;
}

void Trial::after(unsigned char* out, int target, std::size_t message) const {
  if (!case_.operation.writes || case_.reduction == "no_op" || !is_expected_) {
    before(out, target, message);
  } else if (case_.reduction.empty() || case_.reduction == "replace") {
    sent(out, 1 - target);
  } else {
    values().reduced(out, 0, static_cast<std::size_t>(case_.count));
  }
}

void Trial::spoil(unsigned char* result, int target) const {
  for (std::size_t message = 0; message < case_.message_count; ++message) {
    before(result, target, 0);
    for (std::size_t at = 0; at < case_.message_size_bytes; ++at) {
      result[at] = static_cast<unsigned char>(~result[at]);
    }
    result += case_.message_size_bytes;
  }
}

std::optional<std::string> Trial::wrong_memory(const unsigned char* memory, int target) const {
  std::vector<unsigned char> expected(case_.message_size_bytes);
  const std::size_t place_count = case_.operation.writes ? case_.message_count : 1;
  for (std::size_t message = 0; message < place_count; ++message) {
    after(expected.data(), target, message);
    auto found = difference(memory + message * case_.message_size_bytes, expected.data(), message,
                            "at the far side");
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<std::string> Trial::wrong_result(const unsigned char* result, int target) const {
  std::vector<unsigned char> expected(case_.message_size_bytes);
  before(expected.data(), target, 0);
  for (std::size_t message = 0; message < case_.message_count; ++message) {
    auto found = difference(result + message * case_.message_size_bytes, expected.data(), message,
                            "that came back");
    if (found) return found;
  }
  return std::nullopt;
}

std::optional<std::string> Trial::difference(const unsigned char* found,
                                             const unsigned char* expected, std::size_t message,
                                             const std::string& where) const {
  const std::size_t element_bytes = size_of(case_.element_type);
  for (std::size_t at = 0; at < case_.message_size_bytes; at += element_bytes) {
    if (std::memcmp(found + at, expected + at, element_bytes) == 0) continue;
    return "element " + std::to_string(at / element_bytes) + " of " + std::to_string(case_.count) +
           " in message " + std::to_string(message) + " " + where + " is " +
           values().text(found + at) + ", not " + values().text(expected + at) + ", after " +
           case_.text();
  }
  return std::nullopt;
}

}  // namespace fabriscope

#endif
