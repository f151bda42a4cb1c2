// Messages by send and receive over a queue pair.
//
// A message must find its receive posted: RoCE would send it again later, iWARP would end the
// connection. So each rank tells the other how many receives it has posted so far, and sends no
// more messages than that. The count travels as the immediate data of the messages themselves, and
// as a write of 4 bytes of its own where there are no immediate data (iWARP) or where a rank is
// about to wait and has not told. A benchmark that calls expect() before it sends makes such writes
// needless.
#pragma once

#include "library.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../message_buffer.h"
#include "connection.h"
#include "fabriscope/remote_memory.h"
#include "fabriscope/transport.h"
#include "memory.h"

namespace fabriscope {

class VerbsEndpoint : public Endpoint, public RemoteMemory {
 public:
  explicit VerbsEndpoint(std::unique_ptr<Connection> connection);

  // Set-up, at both ranks: where the peer's counts are to be written.
  std::string counter_place();
  void learn_counter_place(const std::string& words);
  // The first word over a connection, which iWARP wants from the one that connected.
  void greet();

  void send(const void* data, std::size_t size_bytes) override;
  void recv(void* data, std::size_t size_bytes) override;
  void reserve(std::size_t request_count) override;
  void post_send(const void* data, std::size_t size_bytes) override;
  void post_recv(void* data, std::size_t size_bytes) override;
  void wait_all() override;
  bool test_all() override;
  int readable_fd() override;
  void expect(void* data, std::size_t size_bytes, std::size_t count) override;
  void use_memory(void* data, std::size_t size_bytes) override;
  void release_memory(void* data) override { memory_.remove(data); }
  std::size_t maximum_message_bytes() const override {
    return connection_->longest_message_bytes();
  }
  RemoteMemory* remote_memory() override { return this; }
  Fields effective_options() const override { return connection_->fields(); }

  std::string expose(void* data, std::size_t size_bytes) override;
  void aim(const std::string& peers_words) override;
  void write(const void* data, std::size_t size_bytes, std::size_t remote_offset,
             bool told) override;
  void read(void* data, std::size_t size_bytes, std::size_t remote_offset, bool told) override;
  void fetch_add(std::uint64_t* found, std::uint64_t number) override;
  void compare_swap(std::uint64_t* found, std::uint64_t expected,
                    std::uint64_t replacement) override;
  void flush() override;
  void look() override;
  bool has_atomics() const override { return connection_->has_atomics(); }

 private:
  // Looks in vain, some 10 ms of them, before a rank sleeps until the device tells of a completion,
  // and from then on to the end of that wait. A wait that long ends at most a hundredth later for
  // it, and where the messages are moved by software (Soft RoCE) a rank that only looks takes the
  // processor from those that move them.
  static constexpr std::uint64_t kEagerLooks = 500'000;
  // Small memory of the engine's own, for messages whose memory is not known.
  static constexpr std::size_t kSlotBytes = 64;
  struct Request {
    const void* data;
    std::size_t size_bytes;
  };
  struct Landing {  // of a posted receive
    void* place;
    std::size_t size_bytes;
    const unsigned char* slot;  // where the message really comes in; null: at its place
  };
  struct Target {
    std::uint64_t address = 0;
    std::uint32_t key = 0;
    std::size_t size_bytes = 0;
  };

  // Requests to the device.
  std::uint64_t post(ibv_send_wr& request, const void* data, std::size_t size_bytes, bool signals);
  std::uint64_t submit(ibv_send_wr& request, bool signals);
  std::uint64_t post_message(const void* data, std::size_t size_bytes, bool signals);
  void post_receive(void* data, std::size_t size_bytes);
  std::uint64_t tell_count(bool signals = false);
  void add_remote(ibv_send_wr& request, std::size_t remote_offset, std::size_t size_bytes) const;
  void atomic(ibv_send_wr& request, std::uint64_t* found);

  // What has become of them.
  bool progress();
  void complete(const ibv_wc& completion);
  void learn_count(std::uint32_t count);
  void idle();
  bool arm();
  void take_event();
  bool complete_all();
  template <typename Condition>
  void wait_until(Condition holds);
  void pump(bool to_the_end);

  bool may_send() const { return static_cast<std::int32_t>(peer_posted_ - sent_) > 0; }
  // The peer has used up what it was told, or soon will have.
  bool owes_count() const {
    const auto untold = static_cast<std::uint32_t>(posted_) - told_;
    return untold > 0 && (static_cast<std::uint32_t>(arrived_) == told_ || untold >= depth_ / 4);
  }
  bool has_send_room() const { return submitted_ - submitted_done_ < depth_; }
  bool has_receive_room() const { return posted_ - arrived_ < depth_; }
  Landing& landing(std::uint64_t number) { return landings_[number % depth_]; }

  std::unique_ptr<Connection> connection_;
  const VerbsLibrary& library_;
  ibv_qp* qp_;
  ibv_cq* cq_;
  std::uint64_t depth_;
  std::uint64_t signal_every_;
  std::size_t inline_bytes_;
  bool has_immediate_;
  bool by_event_;
  RegisteredMemory memory_;

  // [count from the peer][own count, to be written][slots to receive][slots to send]
  MessageBuffer own_;
  unsigned char* receive_slots_;
  unsigned char* send_slots_;
  Target peer_counter_;
  Target target_;  // of one-sided operations

  std::uint64_t submitted_ = 0;       // requests to send, of every kind
  std::uint64_t submitted_done_ = 0;  // known to be complete
  std::uint64_t unsignalled_ = 0;     // since the last one that will tell
  std::uint32_t sent_ = 0;            // messages
  std::uint32_t peer_posted_ = 0;     // receives, as the peer has told
  std::uint32_t told_ = 0;            // of our own receives
  std::uint64_t posted_ = 0;          // receives
  std::uint64_t claimed_ = 0;         // of these, asked for
  std::uint64_t arrived_ = 0;
  std::uint64_t idle_looks_ = 0;
  bool awaits_count_ = false;    // which may come without a completion
  std::uint64_t last_told_ = 0;  // of one-sided operations

  std::vector<Landing> landings_;
  std::vector<Request> sends_;
  std::size_t next_send_ = 0;
  std::uint64_t last_send_ = 0;
  std::vector<Landing> receives_;  // that found no room yet
  std::size_t next_receive_ = 0;
};

template <typename Condition>
void VerbsEndpoint::wait_until(Condition holds) {
  if (holds()) return;
  progress();
  idle_looks_ = 0;
  while (!holds()) {
    if (progress()) {
      if (idle_looks_ < kEagerLooks || awaits_count_) idle_looks_ = 0;
    } else if (owes_count()) {
      tell_count();
    } else {
      idle();
    }
  }
}

}  // namespace fabriscope

#endif
