#include "communicators.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "counters.h"
#include "library.h"

namespace fabriscope::profile {

namespace {

constexpr std::size_t kSlots = 256;
constexpr std::uint64_t kGone = 1;  // No library's handle: a slot that may be used again.

struct Slot {
  std::atomic<std::uint64_t> handle{0};
  std::atomic<Communicator*> known{nullptr};
};

std::array<Slot, kSlots> slots;
std::atomic_flag slots_lock = ATOMIC_FLAG_INIT;
// Where the slots are all taken: asked anew for each call.
thread_local Communicator passing;

struct TypeSize {
  MPI_Datatype type;
  std::uint64_t bytes;
  bool is_known;
};

// Asking the library takes longer than all the rest: what it said is kept, where one thread alone
// calls.
std::array<TypeSize, 16> type_sizes;

std::size_t slot_of_type(MPI_Datatype type) {
  std::uint64_t number = 0;
  std::memcpy(&number, &type, sizeof(type));
  return static_cast<std::size_t>((number * 0x9e3779b97f4a7c15u) >> 60u) % type_sizes.size();
}

std::uint64_t number_of(MPI_Comm handle) {
  std::uint64_t number = 0;
  std::memcpy(&number, &handle, sizeof(handle));
  return number;
}

std::size_t first_slot(std::uint64_t handle) {
  return static_cast<std::size_t>((handle * 0x9e3779b97f4a7c15u) >> 56u) % kSlots;
}

Slot* slot_of(std::uint64_t handle) {
  std::size_t place = first_slot(handle);
  for (std::size_t i = 0; i < kSlots; ++i, place = (place + 1) % kSlots) {
    const std::uint64_t found = slots[place].handle.load(std::memory_order_acquire);
    if (found == handle) return &slots[place];
    if (found == 0) return nullptr;
  }
  return nullptr;
}

Slot* free_slot(std::uint64_t handle) {
  std::size_t place = first_slot(handle);
  for (std::size_t i = 0; i < kSlots; ++i, place = (place + 1) % kSlots) {
    if (slots[place].handle.load(std::memory_order_relaxed) <= kGone) return &slots[place];
  }
  return nullptr;
}

// Returns the ranks of a group in MPI_COMM_WORLD, to be freed; null where memory is short. `size`
// is the group's.
std::uint32_t* in_world(MPI_Group group, int& size) {
  static const auto size_of = found<decltype(&PMPI_Group_size)>("PMPI_Group_size");
  static const auto world_group = found<decltype(&PMPI_Comm_group)>("PMPI_Comm_group");
  static const auto translate =
      found<decltype(&PMPI_Group_translate_ranks)>("PMPI_Group_translate_ranks");
  static const auto free_group = found<decltype(&PMPI_Group_free)>("PMPI_Group_free");
  size_of(group, &size);
  const auto count = static_cast<std::size_t>(size);
  auto* const ranks = static_cast<int*>(std::calloc(2 * count + 1, sizeof(int)));
  if (ranks == nullptr) return nullptr;
  int* const theirs = ranks + count;
  for (int i = 0; i < size; ++i) ranks[i] = i;
  MPI_Group all{};
  world_group(world_handle(), &all);
  translate(group, size, ranks, all, theirs);
  free_group(&all);
  static_assert(sizeof(int) == sizeof(std::uint32_t));
  auto* const members = reinterpret_cast<std::uint32_t*>(ranks);
  for (std::size_t i = 0; i < count;
       ++i) {  // Ranks that were spawned later are in no world of ours.
    members[i] = theirs[i] < 0 ? kAnybody : static_cast<std::uint32_t>(theirs[i]);
  }
  return members;
}

// A rank at the edge of a grid has fewer than two in that dimension.
int grid_neighbours(MPI_Comm handle) {
  static const auto dimensions_of = found<decltype(&PMPI_Cartdim_get)>("PMPI_Cartdim_get");
  static const auto shift = found<decltype(&PMPI_Cart_shift)>("PMPI_Cart_shift");
  int dimensions = 0;
  dimensions_of(handle, &dimensions);
  int count = 0;
  for (int i = 0; i < dimensions; ++i) {
    int before = MPI_PROC_NULL;
    int after = MPI_PROC_NULL;
    shift(handle, i, 1, &before, &after);
    count += (before == MPI_PROC_NULL ? 0 : 1) + (after == MPI_PROC_NULL ? 0 : 1);
  }
  return count;
}

int graph_neighbours(MPI_Comm handle) {
  static const auto rank_of = found<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank");
  static const auto count_of =
      found<decltype(&PMPI_Graph_neighbors_count)>("PMPI_Graph_neighbors_count");
  int rank = 0;
  int count = 0;
  rank_of(handle, &rank);
  count_of(handle, rank, &count);
  return count;
}

int distributed_neighbours(MPI_Comm handle) {
  static const auto count_of =
      found<decltype(&PMPI_Dist_graph_neighbors_count)>("PMPI_Dist_graph_neighbors_count");
  int sources = 0;
  int targets = 0;
  int is_weighted = 0;
  count_of(handle, &sources, &targets, &is_weighted);
  return targets;
}

int neighbours_of(MPI_Comm handle) {
  static const auto topology_of = found<decltype(&PMPI_Topo_test)>("PMPI_Topo_test");
  int topology = MPI_UNDEFINED;
  topology_of(handle, &topology);
  if (topology == MPI_CART) return grid_neighbours(handle);
  if (topology == MPI_GRAPH) return graph_neighbours(handle);
  return topology == MPI_DIST_GRAPH ? distributed_neighbours(handle) : 0;
}

Communicator ask(MPI_Comm handle) {
  static const auto is_two_sided = found<decltype(&PMPI_Comm_test_inter)>("PMPI_Comm_test_inter");
  static const auto near = found<decltype(&PMPI_Comm_group)>("PMPI_Comm_group");
  static const auto far = found<decltype(&PMPI_Comm_remote_group)>("PMPI_Comm_remote_group");
  static const auto free_group = found<decltype(&PMPI_Group_free)>("PMPI_Group_free");
  int has_far_side = 0;
  is_two_sided(handle, &has_far_side);
  MPI_Group group{};
  if (has_far_side != 0) {
    far(handle, &group);
  } else {
    near(handle, &group);
  }
  Communicator about;
  int size = 0;
  about.world = in_world(group, size);
  free_group(&group);
  about.size = static_cast<std::uint32_t>(size);
  about.group = about.world == nullptr ? kMostGroups - 1 : add_group(about.size, about.world);
  about.is_world = number_of(handle) == number_of(world_handle());
  if (has_far_side == 0) about.neighbours = static_cast<std::uint32_t>(neighbours_of(handle));
  return about;
}

}  // namespace

std::uint32_t Communicator::peer(int rank) const {
  if (rank == MPI_ANY_SOURCE) return kAnybody;
  if (rank < 0) return kNobody;
  if (is_world) return static_cast<std::uint32_t>(rank);
  const auto place = static_cast<std::uint32_t>(rank);
  return place < size && world != nullptr ? world[place] : kAnybody;
}

const Communicator& communicator(MPI_Comm handle) {
  const std::uint64_t number = number_of(handle);
  if (const Slot* const slot = slot_of(number); slot != nullptr) return *slot->known.load();
  const Communicator about = ask(handle);
  const Lock lock(slots_lock);
  if (const Slot* const slot = slot_of(number); slot != nullptr) return *slot->known.load();
  Slot* const slot = free_slot(number);
  Communicator* known = slot == nullptr ? &passing : slot->known.load();
  if (known == nullptr) known = static_cast<Communicator*>(std::calloc(1, sizeof(Communicator)));
  if (known == nullptr) known = &passing;
  std::free(known->world);
  *known = about;
  if (slot == nullptr || known == &passing) return *known;
  slot->known.store(known);
  slot->handle.store(number, std::memory_order_release);
  return *known;
}

void forget_communicator(MPI_Comm handle) {
  const Lock lock(slots_lock);
  if (Slot* const slot = slot_of(number_of(handle)); slot != nullptr) slot->handle.store(kGone);
}

MPI_Comm world_handle() {
#ifdef OPEN_MPI
  static const auto handle = reinterpret_cast<MPI_Comm>(find_variable("ompi_mpi_comm_world"));
  return handle;
#else
  return MPI_COMM_WORLD;
#endif
}

MPI_Datatype byte_handle() {
#ifdef OPEN_MPI
  static const auto handle = reinterpret_cast<MPI_Datatype>(find_variable("ompi_mpi_byte"));
  return handle;
#else
  return MPI_BYTE;
#endif
}

std::uint64_t type_bytes(MPI_Datatype type) {
  TypeSize& kept = type_sizes[slot_of_type(type)];
  if (!has_threads && kept.is_known && kept.type == type) return kept.bytes;
  static const auto size_of = found<decltype(&PMPI_Type_size)>("PMPI_Type_size");
  int size = 0;
  size_of(type, &size);
  const std::uint64_t bytes = size < 0 ? 0 : static_cast<std::uint64_t>(size);
  if (!has_threads) kept = {type, bytes, true};
  return bytes;
}

void forget_type(MPI_Datatype type) { type_sizes[slot_of_type(type)].is_known = false; }

}  // namespace fabriscope::profile
