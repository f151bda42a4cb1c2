#include "gather.h"

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>

#include "communicators.h"
#include "counters.h"
#include "library.h"

namespace fabriscope::profile {

namespace {

constexpr const char* kVariable = "FABRISCOPE_PROFILE_GATHER";

// What rank 0 is to receive, and from whom how much.
struct Received {
  int* bytes = nullptr;   // By rank.
  int* places = nullptr;  // By rank.
  char* content = nullptr;
  long long total = 0;

  Received() = default;
  ~Received() {
    std::free(bytes);
    std::free(places);
    std::free(content);
  }
  Received(const Received&) = delete;
  Received& operator=(const Received&) = delete;

  bool make_lists(std::size_t rank_count) {
    bytes = static_cast<int*>(std::calloc(rank_count, sizeof(int)));
    places = static_cast<int*>(std::calloc(rank_count, sizeof(int)));
    return bytes != nullptr && places != nullptr;
  }
  // Returns whether there is room for all; else nothing is taken from anybody.
  bool make_content(std::size_t rank_count) {
    for (std::size_t i = 0; i < rank_count; ++i) {
      places[i] = static_cast<int>(total);
      total += bytes[i];
      if (total > INT_MAX) return false;
    }
    content = static_cast<char*>(std::malloc(static_cast<std::size_t>(total)));
    return content != nullptr;
  }
};

void write_all(const char* folder, const Received& received) {
  static std::array<char, PATH_MAX> path;
  std::snprintf(path.data(), path.size(), "%s/all", folder);
  std::FILE* const file = std::fopen(path.data(), "wb");
  if (file == nullptr) return;
  const auto size = static_cast<std::size_t>(received.total);
  const bool is_whole = std::fwrite(received.content, 1, size, file) == size;
  if (std::fclose(file) != 0 || !is_whole) std::remove(path.data());
}

}  // namespace

bool gathers() { return std::getenv(kVariable) != nullptr; }

void gather_files(const char* folder) {
  if (!gathers()) return;
  const auto gather = found<decltype(&PMPI_Gather)>("PMPI_Gather");
  const auto gatherv = found<decltype(&PMPI_Gatherv)>("PMPI_Gatherv");
  const auto broadcast = found<decltype(&PMPI_Bcast)>("PMPI_Bcast");
  // A rank without a file takes part with nothing: all must call alike.
  int own = header() == nullptr ? 0 : static_cast<int>(image_bytes());
  int rank = 0;
  int size = 0;
  found<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank")(world_handle(), &rank);
  found<decltype(&PMPI_Comm_size)>("PMPI_Comm_size")(world_handle(), &size);
  const auto count = static_cast<std::size_t>(size);
  Received received;
  int can = rank != 0 || received.make_lists(count) ? 1 : 0;
  broadcast(&can, sizeof(can), byte_handle(), 0, world_handle());
  if (can == 0) return;
  gather(&own, sizeof(own), byte_handle(), received.bytes, sizeof(own), byte_handle(), 0,
         world_handle());
  if (rank == 0) can = received.make_content(count) ? 1 : 0;
  broadcast(&can, sizeof(can), byte_handle(), 0, world_handle());
  if (can == 0) return;
  gatherv(image(), own, byte_handle(), received.content, received.bytes, received.places,
          byte_handle(), 0, world_handle());
  if (rank == 0) write_all(folder, received);
}

}  // namespace fabriscope::profile
