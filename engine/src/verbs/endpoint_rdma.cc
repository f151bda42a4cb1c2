// What an endpoint does to the peer's memory: RDMA and its atomics.
#include "endpoint.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <sstream>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// Of memory: a look costs next to nothing, a poll some tens of nanoseconds.
constexpr std::uint64_t kLooksBetweenPolls = 1024;

}  // namespace

std::string VerbsEndpoint::expose(void* data, std::size_t size_bytes) {
  std::ostringstream words;
  words << reinterpret_cast<std::uintptr_t>(data) << ' ' << memory_.add(data, size_bytes).rkey
        << ' ' << size_bytes;
  return words.str();
}

void VerbsEndpoint::aim(const std::string& peers_words) {
  std::istringstream words(peers_words);
  words >> target_.address >> target_.key >> target_.size_bytes;
  if (!words) throw CaseError("the peer's memory cannot be found by '" + peers_words + "'");
}

void VerbsEndpoint::add_remote(ibv_send_wr& request, std::size_t remote_offset,
                               std::size_t size_bytes) const {
  if (remote_offset + size_bytes > target_.size_bytes) {
    throw RunError("byte " + std::to_string(remote_offset + size_bytes) +
                   " of the peer's memory is beyond what it has opened");
  }
  request.wr.rdma.remote_addr = target_.address + remote_offset;
  request.wr.rdma.rkey = target_.key;
}

void VerbsEndpoint::write(const void* data, std::size_t size_bytes, std::size_t remote_offset,
                          bool told) {
  wait_until([this] { return has_send_room(); });
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  add_remote(request, remote_offset, size_bytes);
  const std::uint64_t number = post(request, data, size_bytes, told);
  if (told) last_told_ = number;
}

void VerbsEndpoint::read(void* data, std::size_t size_bytes, std::size_t remote_offset, bool told) {
  wait_until([this] { return has_send_room(); });
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_READ;
  add_remote(request, remote_offset, size_bytes);
  const std::uint64_t number = post(request, data, size_bytes, told);
  if (told) last_told_ = number;
}

void VerbsEndpoint::fetch_add(std::uint64_t* found, std::uint64_t number) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.wr.atomic.compare_add = number;
  atomic(request, found);
}

void VerbsEndpoint::compare_swap(std::uint64_t* found, std::uint64_t expected,
                                 std::uint64_t replacement) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  request.wr.atomic.compare_add = expected;
  request.wr.atomic.swap = replacement;
  atomic(request, found);
}

void VerbsEndpoint::atomic(ibv_send_wr& request, std::uint64_t* found) {
  wait_until([this] { return has_send_room(); });
  const std::uint32_t* key = memory_.local_key(found, sizeof *found);
  if (key == nullptr) throw RunError("the memory of an atomic's result is not known");
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(found), sizeof *found, *key};
  request.wr.atomic.remote_addr = target_.address;
  request.wr.atomic.rkey = target_.key;
  request.sg_list = &piece;
  request.num_sge = 1;
  last_told_ = submit(request, /*signals=*/true);
}

void VerbsEndpoint::flush() {
  wait_until([this] { return submitted_done_ >= last_told_; });
}

void VerbsEndpoint::look() {
  if (++idle_looks_ % kLooksBetweenPolls == 0) progress();
}

}  // namespace fabriscope

#endif
