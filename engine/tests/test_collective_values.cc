// What the ranks of a checked collective send, and what must come out of it.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "check.h"
#include "collectives/values.h"
#include "fabriscope/error.h"

using namespace fabriscope;

namespace {

constexpr int kRankCount = 5;
constexpr std::size_t kCount = 999;

template <typename Element>
std::vector<Element> sent(const TestValues& values, int rank, std::size_t first = 0) {
  std::vector<Element> elements(kCount);
  values.sent(elements.data(), rank, first, kCount);
  return elements;
}

// Folds what the ranks send in two orders and compares with what is said to come out.
template <typename Element, typename Fold>
void check_fold(ElementType type, Reduction reduction, Fold&& fold) {
  refuse_illegal(type, reduction);
  const TestValues values(type, reduction, kRankCount, 7);
  std::vector<Element> result(kCount);
  values.reduced(result.data(), 0, kCount);
  std::vector<Element> upwards = sent<Element>(values, 0);
  std::vector<Element> downwards = sent<Element>(values, kRankCount - 1);
  for (int step = 1; step < kRankCount; ++step) {
    const std::vector<Element> up = sent<Element>(values, step);
    const std::vector<Element> down = sent<Element>(values, kRankCount - 1 - step);
    for (std::size_t i = 0; i < kCount; ++i) {
      upwards[i] = static_cast<Element>(fold(upwards[i], up[i]));
      downwards[i] = static_cast<Element>(fold(downwards[i], down[i]));
    }
  }
  CHECK(result == upwards);
  CHECK(result == downwards);
  CHECK(result != sent<Element>(values, 0));
}

template <typename Element>
void check_arithmetic(ElementType type) {
  check_fold<Element>(type, Reduction::kSum, [](Element a, Element b) { return a + b; });
  check_fold<Element>(type, Reduction::kProd, [](Element a, Element b) { return a * b; });
  check_fold<Element>(type, Reduction::kMax, [](Element a, Element b) { return a > b ? a : b; });
  check_fold<Element>(type, Reduction::kMin, [](Element a, Element b) { return a < b ? a : b; });
}

template <typename Element>
void check_bits(ElementType type) {
  check_fold<Element>(type, Reduction::kBand, [](Element a, Element b) { return a & b; });
  check_fold<Element>(type, Reduction::kBor, [](Element a, Element b) { return a | b; });
}

template <typename Element>
void check_dependence(ElementType type) {
  const TestValues values(type, Reduction::kNone, kRankCount, 7);
  const std::vector<Element> first = sent<Element>(values, 0);
  CHECK(first == sent<Element>(values, 0));
  CHECK(first != sent<Element>(values, 1));
  CHECK(first != sent<Element>(TestValues(type, Reduction::kNone, kRankCount, 8), 0));
  const std::vector<Element> later = sent<Element>(values, 0, 1);
  CHECK(first != later);
  CHECK(std::vector<Element>(first.begin() + 1, first.end()) ==
        std::vector<Element>(later.begin(), later.end() - 1));
  for (const Element element : first) {
    CHECK(std::trunc(static_cast<long double>(element)) == static_cast<long double>(element));
  }
}

}  // namespace

TEST(reductions_are_what_folding_in_any_order_gives) {
  check_arithmetic<std::int32_t>(ElementType::kInt32);
  check_arithmetic<std::int64_t>(ElementType::kInt64);
  check_arithmetic<float>(ElementType::kFloat);
  check_arithmetic<double>(ElementType::kDouble);
  check_bits<std::uint8_t>(ElementType::kByte);
  check_bits<std::int32_t>(ElementType::kInt32);
  check_bits<std::int64_t>(ElementType::kInt64);
}

TEST(what_is_sent_depends_on_seed_rank_and_place) {
  check_dependence<std::uint8_t>(ElementType::kByte);
  check_dependence<std::int32_t>(ElementType::kInt32);
  check_dependence<std::int64_t>(ElementType::kInt64);
  check_dependence<float>(ElementType::kFloat);
  check_dependence<double>(ElementType::kDouble);
}

TEST(reductions_that_mpi_does_not_have_are_refused) {
  const auto complaint = [](ElementType type, Reduction reduction) {
    return MESSAGE_OF(CaseError, refuse_illegal(type, reduction));
  };
  CHECK_CONTAINS(complaint(ElementType::kByte, Reduction::kSum), "no sum of the datatype byte");
  CHECK_CONTAINS(complaint(ElementType::kFloat, Reduction::kBor), "no bor of the datatype float");
  CHECK_CONTAINS(complaint(ElementType::kDouble, Reduction::kBand), "take sum, prod, max or min");
  CHECK_CONTAINS(MESSAGE_OF(CaseError, parse_element_type("int16")), "byte, int32");
  CHECK_CONTAINS(MESSAGE_OF(CaseError, parse_reduction("average")), "sum, prod");
}
