#include "one_sided_case.h"

#ifdef FABRISCOPE_WITH_MPI

#include <climits>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// Memory that one case may open to its peer.
constexpr std::size_t kMostExposedBytes = std::size_t{256} << 20U;

// Each of `of` for one element type.
Stamps stamps_of(ElementType type, std::size_t size_bytes) {
  switch (type) {
    case ElementType::kInt32:
      return Stamps::of<std::int32_t>(size_bytes);
    case ElementType::kInt64:
      return Stamps::of<std::int64_t>(size_bytes);
    case ElementType::kFloat:
      return Stamps::of<float>(size_bytes);
    case ElementType::kDouble:
      return Stamps::of<double>(size_bytes);
    case ElementType::kByte:
      break;
  }
  return Stamps::of<std::uint8_t>(size_bytes);
}

bool is_on(const Parameters& parameters, const std::string& name, bool otherwise) {
  const std::string value = parameter_or(parameters, name, otherwise ? "1" : "0");
  if (value == "0" || value == "1") return value == "1";
  throw CaseError(name + " is '" + value + "', and only 0 and 1 are known");
}

}  // namespace

OneSidedCase::OneSidedCase(const Operation& its_operation, const BenchmarkContext& context,
                           bool has_window)
    : operation(its_operation),
      synchronization(parameter_or(context.parameters, "synchronization", "flush")),
      window_memory(parameter_or(context.parameters, "window_memory", "allocate")),
      has_far_check(is_on(context.parameters, "far_check", !its_operation.fetches)),
      message_size_bytes(context.message_size_bytes),
      message_count(has_window ? context.window_size : 1) {
  if (context.rank_count < 2) throw CaseError("one-sided operations need two ranks");
  if (operation.datatype != nullptr) read_datatype(context.parameters);
  refuse_impossible();
  if (has_far_check) refuse_blind_far_check();
  count = static_cast<int>(message_size_bytes / size_of(element_type));
  stamps = stamps_of(element_type, message_size_bytes);
}

std::vector<std::string> OneSidedCase::parameter_names(const Operation& operation) {
  std::vector<std::string> names{"synchronization", "window_memory", "far_check"};
  if (operation.datatype != nullptr) names.emplace_back("datatype");
  if (operation.has_reduction) names.emplace_back("reduction");
  return names;
}

void OneSidedCase::read_datatype(const Parameters& parameters) {
  const std::string datatype = parameter_or(parameters, "datatype", operation.datatype);
  element_type = parse_element_type(datatype);
  type = mpi_type(element_type);
  const bool is_real = element_type == ElementType::kFloat || element_type == ElementType::kDouble;
  if (operation.compares && is_real) {
    throw CaseError("MPI compares and swaps whole numbers and bytes, and no " + datatype);
  }
  if (!operation.has_reduction) return;
  reduction = parameter_or(parameters, "reduction", "sum");
  if (reduction == "replace") return;
  if (reduction == "no_op") {
    if (!operation.fetches) throw CaseError("MPI has no accumulate with the reduction no_op");
    op = MPI_NO_OP;
    return;
  }
  const Reduction combines = parse_reduction(reduction);
  refuse_illegal(element_type, combines);
  op = mpi_op(combines);
}

void OneSidedCase::refuse_impossible() const {
  const std::size_t element_bytes = size_of(element_type);
  const std::string size = std::to_string(message_size_bytes) + " bytes";
  if (operation.is_of_one_element && message_size_bytes != element_bytes) {
    throw CaseError(std::string(operation.name) + " moves one element of " +
                    std::to_string(element_bytes) + " bytes, and no message of " + size);
  }
  if (message_size_bytes % element_bytes != 0) {
    throw CaseError("a message of " + size + " is no whole number of elements of " +
                    std::to_string(element_bytes) + " bytes");
  }
  if (message_size_bytes / element_bytes > INT_MAX) {
    throw CaseError("a message of " + size + " has more elements than MPI counts in an int");
  }
  if (exposed_bytes() + result_bytes() > kMostExposedBytes) {
    throw CaseError(std::to_string(message_count) + " messages of " + size +
                    ", each with a place of its own, need more than the " +
                    std::to_string(kMostExposedBytes >> 20U) +
                    " MiB that a case may have: take a smaller window");
  }
}

void OneSidedCase::refuse_blind_far_check() const {
  if (operation.fetches) {
    throw CaseError(std::string(operation.name) +
                    " brings back what stood at the far side, which is a check in itself: "
                    "far_check must be 0");
  }
  if (message_size_bytes == 0) {
    throw CaseError(
        "an operation of 0 bytes writes nothing that the far side could see: "
        "far_check must be 0");
  }
  if (!reduction.empty() && reduction != "sum" && reduction != "replace" && reduction != "max") {
    throw CaseError("the far side sees a sum, a replace or a max arrive, and no " + reduction +
                    ": far_check must be 0");
  }
}

std::size_t OneSidedCase::exposed_bytes() const {
  return message_size_bytes * (operation.writes ? message_count : 1);
}

std::size_t OneSidedCase::result_bytes() const {
  return operation.fetches ? message_size_bytes * message_count : 0;
}

std::string OneSidedCase::text() const {
  return std::string(operation.name) + (reduction.empty() ? "" : " (" + reduction + ")") +
         " with " + synchronization;
}

}  // namespace fabriscope

#endif
