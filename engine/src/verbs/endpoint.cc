#include "endpoint.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <arpa/inet.h>
#include <poll.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kOwnCountAt = kLineBytes;
constexpr std::size_t kSlotsAt = 2 * kLineBytes;
constexpr long kNapNs = 50'000;

}  // namespace

VerbsEndpoint::VerbsEndpoint(std::unique_ptr<Connection> connection)
    : connection_(std::move(connection)),
      library_(connection_->library()),
      qp_(connection_->qp()),
      cq_(connection_->cq()),
      depth_(static_cast<std::uint64_t>(connection_->options().queue_depth)),
      signal_every_(static_cast<std::uint64_t>(connection_->options().signal_every)),
      inline_bytes_(connection_->inline_bytes()),
      has_immediate_(!connection_->port().is_iwarp),
      by_event_(connection_->options().by_event),
      memory_(library_, connection_->pd(), connection_->port().device),
      own_(kSlotsAt + 2 * depth_ * kSlotBytes),
      receive_slots_(own_.data() + kSlotsAt),
      send_slots_(receive_slots_ + depth_ * kSlotBytes),
      landings_(depth_) {
  std::memset(own_.data(), 0, kSlotsAt);
  memory_.add(own_.data(), kSlotsAt + 2 * depth_ * kSlotBytes);
}

// ---- set-up

std::string VerbsEndpoint::counter_place() {
  return expose(own_.data(), kSlotsAt + 2 * depth_ * kSlotBytes);
}

void VerbsEndpoint::learn_counter_place(const std::string& words) {
  aim(words);
  peer_counter_ = target_;
  target_ = {};
}

void VerbsEndpoint::greet() {
  last_told_ = tell_count(/*signals=*/true);
  flush();
}

void VerbsEndpoint::use_memory(void* data, std::size_t size_bytes) {
  if (size_bytes > 0) memory_.add(data, size_bytes);
}

void VerbsEndpoint::reserve(std::size_t request_count) {
  sends_.reserve(request_count);
  receives_.reserve(request_count);
}

// ---- messages

void VerbsEndpoint::send(const void* data, std::size_t size_bytes) {
  wait_until([this] {
    awaits_count_ = !may_send();
    return !awaits_count_ && has_send_room();
  });
  // A message inside its request has been copied: its memory is free at once.
  const bool is_inline = size_bytes <= inline_bytes_;
  const std::uint64_t number = post_message(data, size_bytes, !is_inline);
  if (!is_inline) wait_until([this, number] { return submitted_done_ >= number; });
}

void VerbsEndpoint::recv(void* data, std::size_t size_bytes) {
  wait_until([this] { return claimed_ < posted_ || has_receive_room(); });
  post_recv(data, size_bytes);
  wait_until([this, number = claimed_] { return arrived_ >= number; });
}

void VerbsEndpoint::expect(void* data, std::size_t size_bytes, std::size_t count) {
  for (std::size_t i = 0; i < count && has_receive_room(); ++i) post_receive(data, size_bytes);
}

void VerbsEndpoint::post_send(const void* data, std::size_t size_bytes) {
  sends_.push_back({data, size_bytes});
  pump(/*to_the_end=*/false);
}

void VerbsEndpoint::post_recv(void* data, std::size_t size_bytes) {
  if (claimed_ == posted_) {
    if (next_receive_ < receives_.size() || !has_receive_room()) {
      receives_.push_back({data, size_bytes, nullptr});
      return;
    }
    post_receive(data, size_bytes);
  }
  const Landing& expected = landing(claimed_);
  if (expected.place != data || expected.size_bytes != size_bytes) {
    throw RunError("a message was asked for that is not the one that was expected");
  }
  ++claimed_;
}

void VerbsEndpoint::wait_all() {
  wait_until([this] { return complete_all(); });
}

bool VerbsEndpoint::test_all() {
  if (by_event_) {
    pollfd looking{connection_->channel()->fd, POLLIN, 0};
    if (::poll(&looking, 1, 0) > 0) take_event();
  }
  progress();
  if (complete_all()) return true;
  if (owes_count()) tell_count();
  return false;
}

int VerbsEndpoint::readable_fd() {
  if (!by_event_ || awaits_count_ || !arm()) return -1;
  return connection_->channel()->fd;
}

// Posts what is left to post; true when all of it is complete, and forgotten.
bool VerbsEndpoint::complete_all() {
  pump(/*to_the_end=*/true);
  if (next_send_ < sends_.size() || submitted_done_ < last_send_ ||
      next_receive_ < receives_.size() || arrived_ < claimed_) {
    return false;
  }
  sends_.clear();
  receives_.clear();
  next_send_ = 0;
  next_receive_ = 0;
  return true;
}

// As much as there is room for. The last one is held back until it is known to be the last: it
// alone has to tell of its completion.
void VerbsEndpoint::pump(bool to_the_end) {
  while (next_receive_ < receives_.size() && has_receive_room()) {
    const Landing& asked = receives_[next_receive_++];
    post_receive(asked.place, asked.size_bytes);
    ++claimed_;
  }
  const std::size_t end = sends_.size() - (to_the_end ? 0 : 1);
  while (next_send_ < end && may_send() && has_send_room()) {
    const Request& request = sends_[next_send_++];
    last_send_ =
        post_message(request.data, request.size_bytes, to_the_end && next_send_ == sends_.size());
  }
  awaits_count_ = next_send_ < end && !may_send();
}

// ---- requests to the device

std::uint64_t VerbsEndpoint::post_message(const void* data, std::size_t size_bytes, bool signals) {
  ibv_send_wr request{};
  if (has_immediate_) {
    request.opcode = IBV_WR_SEND_WITH_IMM;
    told_ = static_cast<std::uint32_t>(posted_);
    request.imm_data = htonl(told_);
  } else {
    if (told_ != static_cast<std::uint32_t>(posted_)) tell_count();
    request.opcode = IBV_WR_SEND;
  }
  ++sent_;
  return post(request, data, size_bytes, signals);
}

// With the memory of the message filled in; `signals` where its completion must tell.
std::uint64_t VerbsEndpoint::post(ibv_send_wr& request, const void* data, std::size_t size_bytes,
                                  bool signals) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(data);
  piece.length = static_cast<std::uint32_t>(size_bytes);
  const bool reads = request.opcode == IBV_WR_RDMA_READ;
  if (!reads && size_bytes <= inline_bytes_) {
    request.send_flags |= IBV_SEND_INLINE;
  } else if (const std::uint32_t* key = memory_.local_key(data, size_bytes)) {
    piece.lkey = *key;
  } else if (!reads && size_bytes <= kSlotBytes) {
    unsigned char* slot = send_slots_ + submitted_ % depth_ * kSlotBytes;
    std::memcpy(slot, data, size_bytes);
    piece.addr = reinterpret_cast<std::uintptr_t>(slot);
    piece.lkey = *memory_.local_key(slot, size_bytes);
  } else {
    throw RunError("the memory of a message of " + std::to_string(size_bytes) +
                   " bytes is not known to the verbs transport");
  }
  if (size_bytes > 0) {
    request.sg_list = &piece;
    request.num_sge = 1;
  }
  return submit(request, signals);
}

std::uint64_t VerbsEndpoint::submit(ibv_send_wr& request, bool signals) {
  const std::uint64_t number = ++submitted_;
  if (signals || ++unsignalled_ >= signal_every_) {
    request.send_flags |= IBV_SEND_SIGNALED;
    unsignalled_ = 0;
  }
  request.wr_id = number;
  ibv_send_wr* bad = nullptr;
  if (const int error = ibv_post_send(qp_, &request, &bad)) {
    errno = std::abs(error);  // siw returns it negative
    throw RunError(system_failure("post a request to " + connection_->port().device).what());
  }
  return number;
}

void VerbsEndpoint::post_receive(void* data, std::size_t size_bytes) {
  Landing& asked = landing(posted_);
  asked = {data, size_bytes, nullptr};
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(data);
  piece.length = static_cast<std::uint32_t>(size_bytes);
  if (const std::uint32_t* key = memory_.local_key(data, size_bytes)) {
    piece.lkey = *key;
  } else if (size_bytes <= kSlotBytes) {
    asked.slot = receive_slots_ + posted_ % depth_ * kSlotBytes;
    piece.addr = reinterpret_cast<std::uintptr_t>(asked.slot);
    piece.lkey = *memory_.local_key(asked.slot, size_bytes);
  } else {
    throw RunError("the memory for a message of " + std::to_string(size_bytes) +
                   " bytes is not known to the verbs transport");
  }
  ibv_recv_wr request{};
  request.sg_list = &piece;  // siw wants one even for a message of 0 bytes
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  if (const int error = ibv_post_recv(qp_, &request, &bad)) {
    errno = std::abs(error);
    throw RunError(system_failure("post a receive to " + connection_->port().device).what());
  }
  ++posted_;
}

// By a write of 4 bytes.
std::uint64_t VerbsEndpoint::tell_count(bool signals) {
  while (!has_send_room()) progress();
  told_ = static_cast<std::uint32_t>(posted_);
  unsigned char* place = own_.data() + kOwnCountAt;
  std::memcpy(place, &told_, sizeof told_);
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma.remote_addr = peer_counter_.address;
  request.wr.rdma.rkey = peer_counter_.key;
  return post(request, place, sizeof told_, signals);
}

// ---- completions

bool VerbsEndpoint::progress() {
  std::array<ibv_wc, 16> completions;
  const int count = ibv_poll_cq(cq_, static_cast<int>(completions.size()), completions.data());
  if (count < 0) throw RunError("the completion queue cannot be polled");
  for (int i = 0; i < count; ++i) complete(completions[static_cast<std::size_t>(i)]);
  learn_count(*reinterpret_cast<const volatile std::uint32_t*>(own_.data()));
  return count > 0;
}

void VerbsEndpoint::complete(const ibv_wc& completion) {
  if (completion.status != IBV_WC_SUCCESS) {
    throw RunError("a transfer over " + connection_->port().device +
                   " failed: " + library_.status_text(completion.status));
  }
  if ((completion.opcode & IBV_WC_RECV) == 0) {
    submitted_done_ = completion.wr_id;
    return;
  }
  const Landing& asked = landing(arrived_);
  if (completion.byte_len != asked.size_bytes) {
    throw RunError("a message of " + std::to_string(completion.byte_len) +
                   " bytes came where one of " + std::to_string(asked.size_bytes) +
                   " was expected");
  }
  if (asked.slot != nullptr) std::memcpy(asked.place, asked.slot, asked.size_bytes);
  ++arrived_;
  if ((completion.wc_flags & IBV_WC_WITH_IMM) != 0) learn_count(ntohl(completion.imm_data));
}

// The two ways on which it comes may overtake each other; it only grows.
void VerbsEndpoint::learn_count(std::uint32_t count) {
  if (static_cast<std::int32_t>(count - peer_posted_) > 0) peer_posted_ = count;
}

// Between looks in vain. A count may come without a completion, and so without an event.
void VerbsEndpoint::idle() {
  const bool looks_first = awaits_count_ || !by_event_;
  if (looks_first && ++idle_looks_ < kEagerLooks) return;
  if (awaits_count_) {
    const timespec nap{0, kNapNs};
    nanosleep(&nap, nullptr);
  } else if (arm()) {
    take_event();
  }
}

// Asks for an event of the next completion; false where one has come meanwhile.
bool VerbsEndpoint::arm() {
  if (ibv_req_notify_cq(cq_, 0) != 0) throw RunError("the completion queue gives no events");
  return !progress();
}

void VerbsEndpoint::take_event() {
  ibv_cq* cq = nullptr;
  void* context = nullptr;
  if (library_.get_cq_event(connection_->channel(), &cq, &context) != 0) {
    if (errno == EINTR) return;  // noticed between bursts, as everywhere
    throw RunError(system_failure("wait for a completion's event").what());
  }
  library_.ack_cq_events(cq, 1);
}

}  // namespace fabriscope

#endif
