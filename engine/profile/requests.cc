#include "requests.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "counters.h"

namespace fabriscope::profile {

namespace {

constexpr std::size_t kBuckets = 1024;
constexpr std::size_t kWays = 4;
using Bucket = std::array<Request, kWays>;

std::array<Bucket, kBuckets> buckets;
std::atomic<int> live{0};
std::atomic_flag lock_flag = ATOMIC_FLAG_INIT;

std::uint64_t number_of(MPI_Request handle) {
  std::uint64_t number = 0;
  std::memcpy(&number, &handle, sizeof(handle));
  return number;
}

Bucket& bucket_of(std::uint64_t number) {
  return buckets[static_cast<std::size_t>((number * 0x9e3779b97f4a7c15u) >> 54u) % kBuckets];
}

Request* find(std::uint64_t number) {
  for (Request& one : bucket_of(number)) {
    if (one.kind != Kind::kFree && one.handle == number) return &one;
  }
  return nullptr;
}

void release(Request& one) {
  one.kind = Kind::kFree;
  live.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace

bool remembers_any() { return live.load(std::memory_order_relaxed) > 0; }

void remember(MPI_Request handle, Kind kind, bool is_receive, std::uint32_t peer,
              std::uint64_t bytes) {
  const std::uint64_t number = number_of(handle);
  const Lock lock(lock_flag);
  Request* place = find(number);
  if (place != nullptr) {
    release(*place);
  } else {
    for (Request& one : bucket_of(number)) {
      if (one.kind == Kind::kFree) place = &one;
    }
  }
  if (place == nullptr) {
    add(header()->untracked_requests, 1);
    return;
  }
  *place = Request{number, bytes, peer, kind, is_receive};
  live.fetch_add(1, std::memory_order_relaxed);
}

Request recall(MPI_Request handle) {
  const Lock lock(lock_flag);
  const Request* const found = find(number_of(handle));
  return found == nullptr ? Request{} : *found;
}

void complete(MPI_Request handle) {
  const Lock lock(lock_flag);
  Request* const found = find(number_of(handle));
  if (found != nullptr && found->kind == Kind::kReceive) release(*found);
}

void forget_request(MPI_Request handle) {
  const Lock lock(lock_flag);
  if (Request* const found = find(number_of(handle)); found != nullptr) release(*found);
}

Handles::Handles(int count, const MPI_Request* requests) {
  if (count <= 0 || depth != 0 || !is_counting.load(std::memory_order_relaxed)) return;
  if (!remembers_any()) return;
  const auto size = static_cast<std::size_t>(count);
  kept_ = size <= few_.size() ? few_.data()
                              : static_cast<MPI_Request*>(std::malloc(size * sizeof(MPI_Request)));
  if (kept_ == nullptr) return;
  std::memcpy(kept_, requests, size * sizeof(MPI_Request));
  count_ = count;
}

Handles::~Handles() {
  if (kept_ != few_.data()) std::free(kept_);
}

std::uint32_t Handles::only_peer() const {
  std::uint32_t peer = kNobody;
  for (int i = 0; i < count_; ++i) {
    const Request about = recall(kept_[i]);
    if (!about.is_receive || about.peer == peer) continue;
    if (peer != kNobody) return kNobody;
    peer = about.peer;
  }
  return peer;
}

void Handles::complete_all() const {
  for (int i = 0; i < count_; ++i) complete(kept_[i]);
}

void Handles::complete_at(int place) const {
  if (place >= 0 && place < count_) complete(kept_[place]);
}

}  // namespace fabriscope::profile
