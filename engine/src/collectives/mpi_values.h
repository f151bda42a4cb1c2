// Element types and reductions as MPI calls them.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <mpi.h>

#include "values.h"

namespace fabriscope {

inline MPI_Datatype mpi_type(ElementType type) {
  switch (type) {
    case ElementType::kInt32:
      return MPI_INT32_T;
    case ElementType::kInt64:
      return MPI_INT64_T;
    case ElementType::kFloat:
      return MPI_FLOAT;
    case ElementType::kDouble:
      return MPI_DOUBLE;
    case ElementType::kByte:
      break;
  }
  return MPI_BYTE;
}

inline MPI_Op mpi_op(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum:
      return MPI_SUM;
    case Reduction::kProd:
      return MPI_PROD;
    case Reduction::kMax:
      return MPI_MAX;
    case Reduction::kMin:
      return MPI_MIN;
    case Reduction::kBand:
      return MPI_BAND;
    case Reduction::kBor:
      return MPI_BOR;
    case Reduction::kNone:
      break;
  }
  return MPI_OP_NULL;
}

}  // namespace fabriscope

#endif
