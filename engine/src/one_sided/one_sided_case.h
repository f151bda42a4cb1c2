// One case of a one-sided benchmark: what its parameters and its size come to.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "../collectives/mpi_values.h"
#include "../collectives/values.h"
#include "fabriscope/benchmark.h"
#include "operation.h"
#include "stamps.h"

namespace fabriscope {

struct OneSidedCase {
  // Throws CaseError, the same at every rank, for what MPI does not have and for what makes no
  // sense. `has_window`: an operation is a window of messages, and not one.
  OneSidedCase(const Operation& operation, const BenchmarkContext& context, bool has_window);

  static std::vector<std::string> parameter_names(const Operation& operation);

  const Operation& operation;
  std::string synchronization;
  std::string window_memory;
  bool has_far_check;
  ElementType element_type = ElementType::kByte;
  std::string reduction;  // empty where the operation has none
  std::size_t message_size_bytes;
  std::size_t message_count;
  // As MPI is told them.
  int count = 0;
  MPI_Datatype type = MPI_BYTE;
  MPI_Op op = MPI_REPLACE;
  Stamps stamps;

  // An origin sends the same every time, and the target's memory counts.
  bool adds_up() const { return reduction == "sum"; }
  // Memory that is open to the peer: every message of an operation has a place of its own.
  std::size_t exposed_bytes() const;
  std::size_t result_bytes() const;
  // How far one message's place is from the next one's, at the target and at the origin.
  std::size_t target_step_bytes() const { return operation.writes ? message_size_bytes : 0; }
  std::size_t result_step_bytes() const { return operation.fetches ? message_size_bytes : 0; }
  // For sentences: "accumulate (sum of int32) with lock".
  std::string text() const;

 private:
  void read_datatype(const Parameters& parameters);
  void refuse_impossible() const;
  void refuse_blind_far_check() const;
};

}  // namespace fabriscope

#endif
