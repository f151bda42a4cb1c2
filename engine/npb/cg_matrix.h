// The sparse matrix of CG: a sum of outer products of random sparse vectors, and a shifted
// diagonal.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel.h"

namespace fabriscope::npb {

struct CgClass {
  int order;
  int nonzeros;  // of each random vector
  int iteration_count;
  double shift;
  double zeta;
};

// The rows and columns of one rank, compressed by rows; columns count from the first of these.
struct CgMatrix {
  std::vector<std::int64_t> row_begins;
  std::vector<std::int32_t> columns;
  std::vector<double> values;
};

CgMatrix make_cg_matrix(const CgClass& problem, const Share& rows, const Share& columns);

// What making it and having it takes.
std::int64_t cg_matrix_bytes(const CgClass& problem, int row_ranks, int column_ranks);

}  // namespace fabriscope::npb
