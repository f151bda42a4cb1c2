#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>

#include "format.h"

namespace fabriscope::profile {

enum class Kind : std::uint8_t { kFree, kReceive, kStarted };

// What is remembered of a request until it is complete: of a receive, from whom; of one that is
// started again and again, what each start is.
struct Request {
  std::uint64_t handle = 0;
  std::uint64_t bytes = 0;
  std::uint32_t peer = kNobody;
  Kind kind = Kind::kFree;
  bool is_receive = false;
};

void remember(MPI_Request handle, Kind kind, bool is_receive, std::uint32_t peer,
              std::uint64_t bytes);
Request recall(MPI_Request handle);
// Forgets a request, unless it can be started again.
void complete(MPI_Request handle);
void forget_request(MPI_Request handle);
bool remembers_any();

// Handles of requests as they were before a call, which overwrites those that it completes.
class Handles {
 public:
  Handles(int count, const MPI_Request* requests);
  ~Handles();
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;
  // Returns from whom the requests receive, if that is one rank alone; else kNobody.
  [[nodiscard]] std::uint32_t only_peer() const;
  void complete_all() const;
  void complete_at(int place) const;

 private:
  std::array<MPI_Request, 16> few_;
  MPI_Request* kept_ = nullptr;
  int count_ = 0;
};

}  // namespace fabriscope::profile
