#include "values.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>
#include <utility>

#include "../random.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr std::array<std::pair<const char*, ElementType>, 5> kElementTypes{{
    {"byte", ElementType::kByte},
    {"int32", ElementType::kInt32},
    {"int64", ElementType::kInt64},
    {"float", ElementType::kFloat},
    {"double", ElementType::kDouble},
}};
constexpr std::array<std::pair<const char*, Reduction>, 6> kReductions{{
    {"sum", Reduction::kSum},
    {"prod", Reduction::kProd},
    {"max", Reduction::kMax},
    {"min", Reduction::kMin},
    {"band", Reduction::kBand},
    {"bor", Reduction::kBor},
}};

template <typename Table>
auto find_named(const Table& table, const std::string& what, const std::string& name) {
  std::string known;
  for (const auto& [its_name, value] : table) {
    if (name == its_name) return value;
    known += (known.empty() ? "" : ", ") + std::string(its_name);
  }
  throw CaseError("there is no " + what + " '" + name + "'; known are: " + known);
}

template <typename Table, typename Value>
std::string name_of(const Table& table, Value value) {
  for (const auto& [name, its_value] : table) {
    if (its_value == value) return name;
  }
  return "none";
}

// Calls `use` with a null element of the type: so that a loop is written once for all of them.
template <typename Use>
void with_type(ElementType type, Use&& use) {
  switch (type) {
    case ElementType::kByte:
      return use(std::uint8_t{});
    case ElementType::kInt32:
      return use(std::int32_t{});
    case ElementType::kInt64:
      return use(std::int64_t{});
    case ElementType::kFloat:
      return use(float{});
    case ElementType::kDouble:
      return use(double{});
  }
}

// Whole numbers that the type holds exactly.
template <typename Element>
Element any_value(std::uint64_t random) {
  if constexpr (std::is_same_v<Element, float>) {
    return static_cast<float>(static_cast<std::int32_t>(random >> 40U) - (1 << 23U));
  } else if constexpr (std::is_same_v<Element, double>) {
    return static_cast<double>(static_cast<std::int64_t>(random >> 11U));
  } else {
    return static_cast<Element>(random);
  }
}

}  // namespace

ElementType parse_element_type(const std::string& name) {
  return find_named(kElementTypes, "datatype", name);
}

Reduction parse_reduction(const std::string& name) {
  return find_named(kReductions, "reduction", name);
}

std::size_t size_of(ElementType type) {
  std::size_t size = 0;
  with_type(type, [&size](auto element) { size = sizeof element; });
  return size;
}

void refuse_illegal(ElementType type, Reduction reduction) {
  const bool of_bits = reduction == Reduction::kBand || reduction == Reduction::kBor;
  const bool is_real = type == ElementType::kFloat || type == ElementType::kDouble;
  if ((of_bits && is_real) || (!of_bits && type == ElementType::kByte)) {
    throw CaseError("MPI has no " + name_of(kReductions, reduction) + " of the datatype " +
                    name_of(kElementTypes, type) + ": take " +
                    (is_real ? "sum, prod, max or min" : "band or bor, or another datatype"));
  }
}

// The seed is mixed, or data of the next seed would be the same, one place further.
TestValues::TestValues(ElementType type, Reduction reduction, int rank_count, std::uint64_t seed)
    : type_(type), reduction_(reduction), rank_count_(rank_count), seed_(SplitMix(seed).next()) {}

std::uint64_t TestValues::random(int rank, std::size_t place) const {
  return SplitMix(seed_ + (static_cast<std::uint64_t>(rank) << 40U) + place).next();
}

template <typename Element>
Element TestValues::element(int rank, std::size_t place) const {
  const std::uint64_t bits = random(rank, place);
  switch (reduction_) {
    case Reduction::kSum:  // as many ranks as there are cannot leave what a float holds exactly
      return static_cast<Element>(static_cast<int>(bits % 17) - 8);
    case Reduction::kProd: {  // one rank has a 3, all have a sign
      const std::uint64_t place_bits = random(rank_count_, place);
      const bool is_three =
          place_bits % static_cast<std::uint64_t>(rank_count_) == static_cast<std::uint64_t>(rank);
      const int sign = (bits & 1U) != 0 ? 1 : -1;
      return static_cast<Element>(is_three ? 3 * sign : sign);
    }
    case Reduction::kMax:
    case Reduction::kMin:
      return static_cast<Element>(static_cast<int>(bits % 2'000'001) - 1'000'000);
    case Reduction::kBand:  // most bits are set, or nothing would be left after a few ranks
      return any_value<Element>(bits | random(rank, ~place));
    case Reduction::kBor:
      return any_value<Element>(bits & random(rank, ~place));
    case Reduction::kNone:
      break;
  }
  return any_value<Element>(bits);
}

template <typename Element>
Element TestValues::reduced_element(std::size_t place) const {
  Element result = element<Element>(0, place);
  for (int rank = 1; rank < rank_count_; ++rank) {
    const Element next = element<Element>(rank, place);
    if (reduction_ == Reduction::kSum) {
      result = static_cast<Element>(result + next);
    } else if (reduction_ == Reduction::kProd) {
      result = static_cast<Element>(result * next);
    } else if (reduction_ == Reduction::kMax) {
      result = std::max(result, next);
    } else if (reduction_ == Reduction::kMin) {
      result = std::min(result, next);
    } else if constexpr (std::is_integral_v<Element>) {
      result = static_cast<Element>(reduction_ == Reduction::kBand ? result & next : result | next);
    }
  }
  return result;
}

void TestValues::sent(void* out, int rank, std::size_t first, std::size_t count) const {
  with_type(type_, [&](auto type) {
    auto* elements = static_cast<decltype(type)*>(out);
    for (std::size_t i = 0; i < count; ++i) {
      elements[i] = element<decltype(type)>(rank, first + i);
    }
  });
}

void TestValues::reduced(void* out, std::size_t first, std::size_t count) const {
  with_type(type_, [&](auto type) {
    auto* elements = static_cast<decltype(type)*>(out);
    for (std::size_t i = 0; i < count; ++i) {
      elements[i] = reduced_element<decltype(type)>(first + i);
    }
  });
}

std::string TestValues::text(const void* element) const {
  std::string text;
  with_type(type_, [&](auto value) {
    std::memcpy(&value, element, sizeof value);
    text = std::to_string(value);
  });
  return text;
}

}  // namespace fabriscope
