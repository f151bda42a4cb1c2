#include "group.h"

#ifdef FABRISCOPE_WITH_MPI

#include <algorithm>

namespace fabriscope {
namespace {

template <typename Count, typename Displacement>
Places make_places(int rank_count, Count&& count_of, Displacement&& displacement_of) {
  Places places;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(rank_count); ++rank) {
    places.counts.push_back(static_cast<int>(count_of(rank)));
    places.displacements.push_back(static_cast<int>(displacement_of(rank)));
  }
  return places;
}

}  // namespace

Group::Group() {
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
  MPI_Comm_rank(communicator_, &rank_);
  MPI_Comm_size(communicator_, &rank_count_);
}

Group::~Group() { MPI_Comm_free(&communicator_); }

std::shared_ptr<Group> Group::join() {
  static std::weak_ptr<Group> known;
  std::shared_ptr<Group> group = known.lock();
  if (!group) known = group = std::make_shared<Group>();
  return group;
}

Places Places::even(int rank_count, std::size_t count) {
  return make_places(
      rank_count, [count](std::size_t) { return count; },
      [count](std::size_t rank) { return rank * count; });
}

Places Places::uneven(int rank_count, std::size_t count, int shift) {
  const auto ranks = static_cast<std::size_t>(rank_count);
  const auto turn = static_cast<std::size_t>(shift);
  return make_places(
      rank_count,
      [=](std::size_t rank) { return (rank + turn) % ranks % 2 == 0 ? count : count / 2; },
      [=](std::size_t rank) { return (ranks - 1 - rank) * count; });
}

Places Places::split(int rank_count, std::size_t count) {
  const auto ranks = static_cast<std::size_t>(rank_count);
  const std::size_t rest = count % ranks;
  return make_places(
      rank_count, [=](std::size_t rank) { return count / ranks + (rank < rest ? 1 : 0); },
      [=](std::size_t rank) { return rank * (count / ranks) + std::min(rank, rest); });
}

}  // namespace fabriscope

#endif
