// What the MPI library's collectives have in common: counts, places, datatypes, reductions, roots,
// the check of what arrived, and the non-blocking forms with or without computing meanwhile. A
// collective's own file says what is left: its call, and which elements go where.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "fabriscope/benchmark.h"

namespace fabriscope {

using CollectiveFactory = std::function<std::unique_ptr<Benchmark>(bool is_nonblocking)>;

// Registers a collective by its name, and its non-blocking form by "i" and its name.
bool register_collective(const std::string& name, const CollectiveFactory& factory,
                         const std::string& unavailable_reason = {}) noexcept;

}  // namespace fabriscope

#ifdef FABRISCOPE_WITH_MPI

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "group.h"
#include "values.h"

namespace fabriscope {

// Elements that a rank has received when the operation is over, and where they come from.
struct Piece {
  static constexpr int kEveryRank = -1;  // reduced over all ranks
  int source;
  std::size_t from;  // first element in the source's send buffer
  std::size_t to;    // first element in the receive buffer
  std::size_t count;
};

class Collective : public Benchmark {
 public:
  // What tells one collective from another, apart from its call.
  enum Trait : unsigned {
    kMovesNothing = 1,
    kHasRoot = 2,
    kReduces = 4,
    kSendsToEach = 8,        // the send buffer holds a message for each rank
    kReceivesFromEach = 16,  // the receive buffer holds one from each
    kHasPlaces = 32,         // counts and displacements for each rank: the "v" forms
  };

  Collective(unsigned traits, bool is_nonblocking)
      : traits_(traits), is_nonblocking_(is_nonblocking) {}

  Pattern pattern() const override { return Pattern::kGroup; }
  std::vector<BufferUse> buffer_uses() const override;
  std::vector<std::string> parameter_names() const override;
  std::size_t buffer_bytes(std::size_t message_size_bytes, int rank_count) const override;
  void prepare(const BenchmarkContext& context) override;
  void run(const BenchmarkContext& context, BurstTimer& timer) override;
  std::optional<std::string> verify_group(const BenchmarkContext& context,
                                          std::uint64_t seed) override;
  Fields details() const override;

 protected:
  // The blocking call, and the one that starts the non-blocking form: of the same arguments.
  virtual void call(int root) = 0;
  virtual void start(int root, MPI_Request* request) = 0;
  // What this rank has received when the operation is over.
  virtual std::vector<Piece> pieces(int root) const = 0;
  // Of a check, counted from 0; what is timed has the places of the first one.
  virtual Places places_of(int check) const;

  // One operation, as it is timed.
  void perform(int root);

  int rank() const { return group_->rank(); }
  int rank_count() const { return group_->rank_count(); }
  MPI_Comm communicator() const { return group_->communicator(); }
  void* send() const { return send_; }
  void* receive() const { return receive_; }
  MPI_Datatype type() const { return type_; }
  MPI_Op op() const { return op_; }
  // Elements of a message.
  int count() const { return static_cast<int>(count_); }
  // Each rank's elements: their number, and where they stand in a buffer that holds those of all.
  const int* counts() const { return places_.counts.data(); }
  const int* displacements() const { return places_.displacements.data(); }
  std::size_t count_of(int rank) const;
  std::size_t displacement_of(int rank) const;
  // Each rank's share stands at its place, and is what that rank has sent from element `from` on.
  std::vector<Piece> one_from_each_rank(std::size_t from) const;

 private:
  bool has(Trait trait) const { return (traits_ & trait) != 0; }
  void read_parameters(const Parameters& parameters);
  void refuse_impossible(std::size_t message_size_bytes, int rank_count) const;
  template <typename Use>
  void with_operation(Use&& use);
  int next_root();
  void next_places();
  void compute() const;
  void update_compute_time();
  std::int64_t measure_pure_ns();
  std::optional<std::string> check(const TestValues& values, int root);
  std::vector<unsigned char> expect(const TestValues& values, int root);

  unsigned traits_;
  bool is_nonblocking_;
  ElementType element_type_ = ElementType::kByte;
  Reduction reduction_ = Reduction::kNone;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  int root_step_ = 0;
  int root_ = 0;
  std::size_t count_ = 0;
  Places places_;
  unsigned char* send_ = nullptr;
  unsigned char* receive_ = nullptr;
  Rotation outgoing_;
  Rotation incoming_;
  bool computes_ = false;
  std::int64_t compute_ns_ = 0;
  std::vector<std::int64_t> pure_ns_;  // one a burst
  std::shared_ptr<Group> group_;
};

}  // namespace fabriscope

#define FABRISCOPE_REGISTER_COLLECTIVE(name, Type)                                      \
  FABRISCOPE_AT_START(::fabriscope::register_collective(name, [](bool is_nonblocking) { \
    return std::make_unique<::fabriscope::Type>(is_nonblocking);                        \
  }))

#else

#define FABRISCOPE_REGISTER_COLLECTIVE(name, Type)       \
  FABRISCOPE_AT_START(::fabriscope::register_collective( \
      name, [](bool) { return nullptr; }, "this program was built without MPI"))

#endif
