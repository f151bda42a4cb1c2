// What the ranks of a checked collective send, and what must come out of it: computed here from the
// seed alone, by every rank for every rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fabriscope {

enum class ElementType { kByte, kInt32, kInt64, kFloat, kDouble };
enum class Reduction { kNone, kSum, kProd, kMax, kMin, kBand, kBor };

// By the name that a case gives it. Throw CaseError naming the known ones.
ElementType parse_element_type(const std::string& name);
Reduction parse_reduction(const std::string& name);

std::size_t size_of(ElementType type);

// As MPI has it: bytes know bits only, floating-point numbers know none. Throws CaseError.
void refuse_illegal(ElementType type, Reduction reduction);

// Element `place` of what `rank` sends depends on the seed, the rank and the place. What is reduced
// is chosen so that the exact result fits the type, whole numbers in floating-point types too:
// then it is the same in whatever order an MPI library takes the ranks.
class TestValues {
 public:
  TestValues(ElementType type, Reduction reduction, int rank_count, std::uint64_t seed);

  // Elements `first` to `first + count` of what one rank sends.
  void sent(void* out, int rank, std::size_t first, std::size_t count) const;
  // The same elements of all ranks, reduced.
  void reduced(void* out, std::size_t first, std::size_t count) const;

  std::size_t element_bytes() const { return size_of(type_); }
  std::string text(const void* element) const;

 private:
  template <typename Element>
  Element element(int rank, std::size_t place) const;
  template <typename Element>
  Element reduced_element(std::size_t place) const;
  std::uint64_t random(int rank, std::size_t place) const;

  ElementType type_;
  Reduction reduction_;
  int rank_count_;
  std::uint64_t seed_;
};

}  // namespace fabriscope
