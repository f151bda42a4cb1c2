#include "collective.h"

namespace fabriscope {

bool register_collective(const std::string& name, const CollectiveFactory& factory,
                         const std::string& unavailable_reason) noexcept {
  bool is_added = true;
  for (const bool is_nonblocking : {false, true}) {
    is_added &= benchmark_registry().add_at_start(
        (is_nonblocking ? "i" : "") + name,
        [factory, is_nonblocking] { return factory(is_nonblocking); }, unavailable_reason);
  }
  return is_added;
}

}  // namespace fabriscope

#ifdef FABRISCOPE_WITH_MPI

#include <algorithm>
#include <climits>
#include <cstring>
#include <utility>

#include "fabriscope/burst_timer.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"
#include "mpi_values.h"

namespace fabriscope {
namespace {

// Each check has its own data; those with places have their second one at uneven places.
constexpr int kCheckCount = 2;
// What an operation has to leave alone.
constexpr unsigned char kUntouched = 0xA5;

// For the pure time of an operation that is to be overlapped with computing.
constexpr int kPureWarmupCount = 1;
constexpr int kPureOperationCount = 10;
constexpr std::int64_t kPureEnoughNs = 100'000'000;

std::int64_t median(std::vector<std::int64_t> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool choose(const Parameters& parameters, const std::string& name, const std::string& no,
            const std::string& yes) {
  const std::string value = parameter_or(parameters, name, no);
  if (value != no && value != yes) {
    throw CaseError(name + " is '" + value + "', and only " + no + " and " + yes + " are known");
  }
  return value == yes;
}

}  // namespace

std::vector<std::string> Collective::parameter_names() const {
  std::vector<std::string> names;
  if (!has(kMovesNothing)) names.emplace_back("datatype");
  if (has(kReduces)) names.emplace_back("reduction");
  if (has(kHasRoot)) names.emplace_back("root");
  if (is_nonblocking_) names.emplace_back("compute");
  return names;
}

std::vector<BufferUse> Collective::buffer_uses() const {
  if (has(kMovesNothing)) return {};
  return {BufferUse::kSeparate, BufferUse::kRotating};
}

std::size_t Collective::buffer_bytes(std::size_t message_size_bytes, int rank_count) const {
  const bool has_blocks = has(kSendsToEach) || has(kReceivesFromEach);
  return message_size_bytes * (has_blocks ? static_cast<std::size_t>(rank_count) : 1);
}

void Collective::prepare(const BenchmarkContext& context) {
  group_ = Group::join();
  read_parameters(context.parameters);
  refuse_impossible(context.message_size_bytes, context.rank_count);
  count_ = context.message_size_bytes / size_of(element_type_);
  places_ = places_of(0);
  outgoing_ = context.outgoing;
  incoming_ = context.incoming;
  next_places();
}

void Collective::read_parameters(const Parameters& parameters) {
  element_type_ =
      parse_element_type(parameter_or(parameters, "datatype", has(kReduces) ? "float" : "byte"));
  type_ = mpi_type(element_type_);
  if (has(kReduces)) {
    reduction_ = parse_reduction(parameter_or(parameters, "reduction", "sum"));
    refuse_illegal(element_type_, reduction_);
    op_ = mpi_op(reduction_);
  }
  root_step_ = choose(parameters, "root", "0", "rotating") ? 1 : 0;
  computes_ = choose(parameters, "compute", "0", "1");
}

void Collective::refuse_impossible(std::size_t message_size_bytes, int rank_count) const {
  if (has(kMovesNothing)) {
    if (message_size_bytes == 0) return;
    throw CaseError("a barrier carries no message: its message size has to be 0");
  }
  if (message_size_bytes == 0) {
    throw CaseError("MPI returns at once from a collective of 0 bytes: there is nothing to time");
  }
  const std::size_t element_bytes = size_of(element_type_);
  if (message_size_bytes % element_bytes != 0) {
    throw CaseError("a message of " + std::to_string(message_size_bytes) +
                    " bytes is no whole number of elements of " + std::to_string(element_bytes) +
                    " bytes");
  }
  const std::size_t most_bytes = buffer_bytes(message_size_bytes, rank_count);
  if (most_bytes / element_bytes > INT_MAX) {
    throw CaseError("a buffer of " + std::to_string(most_bytes) +
                    " bytes has more elements than MPI can count");
  }
}

Places Collective::places_of(int check) const {
  const bool is_uneven = has(kHasPlaces) && check % 2 == 1;
  return is_uneven ? Places::uneven(rank_count(), count_, 0) : Places::even(rank_count(), count_);
}

std::size_t Collective::count_of(int rank) const {
  return static_cast<std::size_t>(places_.counts[static_cast<std::size_t>(rank)]);
}

std::size_t Collective::displacement_of(int rank) const {
  return static_cast<std::size_t>(places_.displacements[static_cast<std::size_t>(rank)]);
}

std::vector<Piece> Collective::one_from_each_rank(std::size_t from) const {
  std::vector<Piece> pieces;
  for (int source = 0; source < rank_count(); ++source) {
    pieces.push_back({source, from, displacement_of(source), count_of(source)});
  }
  return pieces;
}

// Decides outside of the timed region what an operation is, and gives it to `use`.
template <typename Use>
void Collective::with_operation(Use&& use) {
  if (!is_nonblocking_) {
    use([this](int root) { call(root); });
  } else if (!computes_) {
    use([this](int root) {
      MPI_Request request = MPI_REQUEST_NULL;
      start(root, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  } else {
    use([this](int root) {
      MPI_Request request = MPI_REQUEST_NULL;
      start(root, &request);
      compute();
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    });
  }
}

void Collective::perform(int root) {
  with_operation([root](const auto& operation) { operation(root); });
}

void Collective::run(const BenchmarkContext& context, BurstTimer& timer) {
  // Zeros are whole numbers of every datatype, and stay zeros: what another case has left there
  // might overflow, or be so small that arithmetic with it is slow. The pool that messages are sent
  // from is written by checks alone.
  if (has(kReduces) && outgoing_.stride() == 0) std::memset(send_, 0, context.message_size_bytes);
  if (computes_) update_compute_time();
  with_operation([this, &timer](const auto& operation) {
    timer.run([this, &operation] {
      next_places();
      operation(next_root());
    });
  });
}

void Collective::next_places() {
  send_ = outgoing_.next();
  receive_ = incoming_.next();
}

// The same at every rank, since every rank runs the same operations.
int Collective::next_root() {
  const int root = root_;
  root_ += root_step_;
  if (root_ == rank_count()) root_ = 0;
  return root;
}

// Keeps the processor busy for as long as the pure operation takes, and leaves MPI alone. By the
// clock and not by a number of steps, which would take longer on a core that others use, too.
void Collective::compute() const {
  const std::int64_t end_ns = SteadyClock::now() + compute_ns_;
  while (SteadyClock::now() < end_ns) {
  }
}

// Anew before each burst, since the next second may be a slower one; the median over all of them,
// since this one may be.
void Collective::update_compute_time() {
  computes_ = false;
  pure_ns_.push_back(measure_pure_ns());
  computes_ = true;
  compute_ns_ = median(pure_ns_);
}

// As OSU finds it: after a barrier each rank times its own operation, and the ranks' mean counts.
// Of several operations the median.
std::int64_t Collective::measure_pure_ns() {
  std::vector<std::int64_t> means_ns;
  std::int64_t spent_ns = 0;
  for (int i = -kPureWarmupCount; i < kPureOperationCount && spent_ns < kPureEnoughNs; ++i) {
    MPI_Barrier(communicator());
    const std::int64_t begin_ns = SteadyClock::now();
    next_places();
    perform(next_root());
    const std::int64_t own_ns = SteadyClock::now() - begin_ns;
    std::int64_t sum_ns = 0;
    MPI_Allreduce(&own_ns, &sum_ns, 1, MPI_INT64_T, MPI_SUM, communicator());
    if (i < 0) continue;
    means_ns.push_back(sum_ns / rank_count());
    spent_ns += means_ns.back();
  }
  return median(means_ns);
}

Fields Collective::details() const {
  if (!computes_) return {};
  return {{"pure_ns", compute_ns_}, {"compute_ns", compute_ns_}};
}

std::optional<std::string> Collective::verify_group(const BenchmarkContext&, std::uint64_t seed) {
  const int check_count = root_step_ == 0 ? kCheckCount : std::max(kCheckCount, rank_count());
  std::optional<std::string> wrong;
  for (int number = 0; number < check_count; ++number) {
    places_ = places_of(number);
    const TestValues values(element_type_, reduction_, rank_count(),
                            seed + static_cast<std::uint64_t>(number));
    std::optional<std::string> found = check(values, root_step_ * (number % rank_count()));
    if (found && !wrong) wrong = std::move(found);
  }
  places_ = places_of(0);
  return wrong;
}

// Performs one operation and compares all of the receive buffer: what had to arrive, and that
// nothing else was touched. Where a rank is to receive nothing its buffer is the library's to use.
std::optional<std::string> Collective::check(const TestValues& values, int root) {
  const std::vector<unsigned char> expected = expect(values, root);
  const std::size_t sent_count =
      count_ * (has(kSendsToEach) ? static_cast<std::size_t>(rank_count()) : 1);
  values.sent(send_, rank(), 0, sent_count);
  perform(root);
  if (pieces(root).empty()) return std::nullopt;
  const auto [bad, good] = std::mismatch(expected.begin(), expected.end(), receive_);
  if (bad == expected.end()) return std::nullopt;
  const std::size_t element_bytes = values.element_bytes();
  const std::size_t place = static_cast<std::size_t>(bad - expected.begin()) / element_bytes;
  return "element " + std::to_string(place) + " of " +
         std::to_string(expected.size() / element_bytes) + " is " +
         values.text(receive_ + place * element_bytes) + ", not " +
         values.text(expected.data() + place * element_bytes);
}

// What the receive buffer must hold after an operation; leaves no byte of it right beforehand.
std::vector<unsigned char> Collective::expect(const TestValues& values, int root) {
  const std::size_t element_bytes = values.element_bytes();
  const std::size_t blocks = has(kReceivesFromEach) ? static_cast<std::size_t>(rank_count()) : 1;
  std::vector<unsigned char> expected(blocks * count_ * element_bytes, kUntouched);
  std::memset(receive_, kUntouched, expected.size());
  for (const Piece& piece : pieces(root)) {
    const std::size_t begin = piece.to * element_bytes;
    const std::size_t end = begin + piece.count * element_bytes;
    if (piece.source == Piece::kEveryRank) {
      values.reduced(expected.data() + begin, piece.from, piece.count);
    } else {
      values.sent(expected.data() + begin, piece.source, piece.from, piece.count);
    }
    for (std::size_t at = begin; at < end; ++at) {
      receive_[at] = static_cast<unsigned char>(~expected[at]);
    }
  }
  return expected;
}

}  // namespace fabriscope

#endif
