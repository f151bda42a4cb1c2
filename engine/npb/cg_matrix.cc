#include "cg_matrix.h"

#include <algorithm>
#include <cmath>

#include "random.h"

namespace fabriscope::npb {
namespace {

constexpr std::uint64_t kSeed = 314159265;
constexpr double kCondition = 0.1;
constexpr double kOwnElement = 0.5;

// All random vectors, one behind the other.
struct Vectors {
  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> places;
  std::vector<double> elements;
};

// Elements at distinct random places; the one at the vector's own number is 0.5.
Vectors make_vectors(const CgClass& problem) {
  const auto order = static_cast<std::size_t>(problem.order);
  const std::size_t most = order * static_cast<std::size_t>(problem.nonzeros + 1);
  Vectors vectors;
  vectors.begins.reserve(order + 1);
  vectors.places.reserve(most);
  vectors.elements.reserve(most);
  double range = 1.0;
  while (range < problem.order) range *= 2.0;
  Random random(kSeed, 1);
  for (std::int32_t number = 0; number < problem.order; ++number) {
    const std::size_t begin = vectors.places.size();
    vectors.begins.push_back(static_cast<std::int64_t>(begin));
    while (vectors.places.size() - begin < static_cast<std::size_t>(problem.nonzeros)) {
      const double element = random.next();
      const auto place = static_cast<std::int32_t>(range * random.next());
      const auto first = vectors.places.begin() + static_cast<std::ptrdiff_t>(begin);
      if (place >= problem.order) continue;
      if (std::find(first, vectors.places.end(), place) != vectors.places.end()) continue;
      vectors.places.push_back(place);
      vectors.elements.push_back(element);
    }
    const auto first = vectors.places.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto own = std::find(first, vectors.places.end(), number);
    if (own == vectors.places.end()) {
      vectors.places.push_back(number);
      vectors.elements.push_back(kOwnElement);
    } else {
      vectors.elements[static_cast<std::size_t>(own - vectors.places.begin())] = kOwnElement;
    }
  }
  vectors.begins.push_back(static_cast<std::int64_t>(vectors.places.size()));
  return vectors;
}

// For each row of a range, the vectors that have an element there, as places in `Vectors`.
struct Occurrences {
  std::vector<std::int64_t> begins;
  std::vector<std::int32_t> numbers;
  std::vector<double> elements;
};

Occurrences find_occurrences(const Vectors& vectors, const Share& rows) {
  Occurrences found;
  found.begins.assign(static_cast<std::size_t>(rows.count) + 1, 0);
  const auto is_here = [&](std::int32_t place) {
    return place >= rows.begin && place < rows.begin + rows.count;
  };
  for (const std::int32_t place : vectors.places) {
    if (is_here(place)) ++found.begins[static_cast<std::size_t>(place - rows.begin) + 1];
  }
  for (std::size_t i = 1; i < found.begins.size(); ++i) found.begins[i] += found.begins[i - 1];
  found.numbers.resize(static_cast<std::size_t>(found.begins.back()));
  found.elements.resize(found.numbers.size());
  std::vector<std::int64_t> next(found.begins.begin(), found.begins.end() - 1);
  for (std::size_t number = 0; number + 1 < vectors.begins.size(); ++number) {
    for (std::int64_t i = vectors.begins[number]; i < vectors.begins[number + 1]; ++i) {
      const std::int32_t place = vectors.places[static_cast<std::size_t>(i)];
      if (!is_here(place)) continue;
      const auto at =
          static_cast<std::size_t>(next[static_cast<std::size_t>(place - rows.begin)]++);
      found.numbers[at] = static_cast<std::int32_t>(number);
      found.elements[at] = vectors.elements[static_cast<std::size_t>(i)];
    }
  }
  return found;
}

// The weight of each vector's outer product: falls from 1 to the reciprocal of the condition.
std::vector<double> make_weights(const CgClass& problem) {
  const double ratio = std::pow(kCondition, 1.0 / problem.order);
  std::vector<double> weights(static_cast<std::size_t>(problem.order));
  double weight = 1.0;
  for (double& each : weights) {
    each = weight;
    weight *= ratio;
  }
  return weights;
}

// Appends rows to a matrix, each from what is added to it in any order.
class RowBuilder {
 public:
  RowBuilder(CgMatrix& matrix, const Share& columns)
      : matrix_(matrix),
        columns_(columns),
        sums_(static_cast<std::size_t>(columns.count)),
        seen_in_(sums_.size(), -1) {
    matrix_.row_begins.push_back(0);
  }

  // Nothing where the column is another rank's.
  void add(std::int64_t column, double value) {
    if (column < columns_.begin || column >= columns_.begin + columns_.count) return;
    const auto at = static_cast<std::size_t>(column - columns_.begin);
    if (seen_in_[at] != row_) {
      seen_in_[at] = row_;
      sums_[at] = 0.0;
      matrix_.columns.push_back(static_cast<std::int32_t>(at));
    }
    sums_[at] += value;
  }
  void end_row() {
    const std::int64_t begin = matrix_.row_begins.back();
    std::sort(matrix_.columns.begin() + begin, matrix_.columns.end());
    for (auto i = static_cast<std::size_t>(begin); i < matrix_.columns.size(); ++i) {
      matrix_.values.push_back(sums_[static_cast<std::size_t>(matrix_.columns[i])]);
    }
    matrix_.row_begins.push_back(static_cast<std::int64_t>(matrix_.columns.size()));
    ++row_;
  }

 private:
  CgMatrix& matrix_;
  const Share columns_;
  std::vector<double> sums_;
  std::vector<std::int32_t> seen_in_;
  std::int32_t row_ = 0;
};

}  // namespace

CgMatrix make_cg_matrix(const CgClass& problem, const Share& rows, const Share& columns) {
  const Vectors vectors = make_vectors(problem);
  const Occurrences found = find_occurrences(vectors, rows);
  const std::vector<double> weights = make_weights(problem);
  CgMatrix matrix;
  matrix.row_begins.reserve(static_cast<std::size_t>(rows.count) + 1);
  const auto most = found.numbers.size() * static_cast<std::size_t>(problem.nonzeros + 1);
  const auto share =
      most / static_cast<std::size_t>(problem.order) * static_cast<std::size_t>(columns.count);
  matrix.columns.reserve(share + share / 16);
  matrix.values.reserve(share + share / 16);
  RowBuilder builder(matrix, columns);
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows.count); ++row) {
    const auto end = static_cast<std::size_t>(found.begins[row + 1]);
    for (auto i = static_cast<std::size_t>(found.begins[row]); i < end; ++i) {
      const auto number = static_cast<std::size_t>(found.numbers[i]);
      const double factor = found.elements[i] * weights[number];
      const auto last = static_cast<std::size_t>(vectors.begins[number + 1]);
      for (auto j = static_cast<std::size_t>(vectors.begins[number]); j < last; ++j) {
        builder.add(vectors.places[j], factor * vectors.elements[j]);
      }
    }
    builder.add(rows.begin + static_cast<std::int64_t>(row), kCondition - problem.shift);
    builder.end_row();
  }
  return matrix;
}

std::int64_t cg_matrix_bytes(const CgClass& problem, int row_ranks, int column_ranks) {
  constexpr std::int64_t kEntryBytes = sizeof(double) + sizeof(std::int32_t);
  const std::int64_t elements = std::int64_t{problem.order} * (problem.nonzeros + 1);
  const std::int64_t entries = elements * (problem.nonzeros + 1) / row_ranks / column_ranks;
  return kEntryBytes * (elements + elements / row_ranks + entries + entries / 16) +
         std::int64_t{problem.order} * 40;
}

}  // namespace fabriscope::npb
