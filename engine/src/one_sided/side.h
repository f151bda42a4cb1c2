// What one of the two ranks does to the other in a burst.
#pragma once

#ifdef FABRISCOPE_WITH_MPI

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "one_sided_case.h"
#include "synchronization.h"
#include "window.h"

namespace fabriscope {

// Everything is looked up and put in its place before the clock starts. Both ranks make theirs at
// the same time, and end it at the same time.
class Side {
 public:
  Side(const OneSidedCase& its_case, Window& window);

  // Around the operations: the target's memory shows no operation's number yet.
  void begin();
  void end();

  Synchronization& synchronization() { return *synchronization_; }
  // All messages of one operation; complete when the synchronization says so.
  void start() {
    for (std::size_t message = 0; message < case_.message_count; ++message) {
      case_.operation.start(transfer_);
      transfer_.displacement += target_step_;
      transfer_.result = static_cast<unsigned char*>(transfer_.result) + result_step_;
    }
    transfer_.displacement = first_displacement_;
    transfer_.result = window_.result();
  }

  // The far check: the origin puts the operation's number, counted from 1, into what it sends, and
  // the target looks at its memory until every message of that operation shows it.
  void mark(std::int64_t number) {
    if (marks_) case_.stamps.write(window_.source(), number);
  }
  void await(std::int64_t number) const {
    const unsigned char* place = window_.exposed();
    for (std::size_t message = 0; message < case_.message_count; ++message) {
      while (!case_.stamps.show(place, number)) window_.progress();
      place += case_.message_size_bytes;
    }
    std::atomic_thread_fence(std::memory_order_acquire);
  }
  // 4 bytes beside the messages' places, which say that all has been seen.
  void start_answer(std::int64_t number);
  void await_answer(std::int64_t number) const {
    while (!answer_.show(answer_place(), number)) window_.progress();
    std::atomic_thread_fence(std::memory_order_acquire);
  }

  // For checks: see Trial.
  unsigned char* comparison() { return comparison_.data(); }

  // Bytes that begin() and the answers need beside the messages' places.
  static std::size_t exposed_bytes(const OneSidedCase& its_case);

 private:
  static constexpr std::size_t kAnswerBytes = 4;
  unsigned char* answer_place() const;

  const OneSidedCase& case_;
  Window& window_;
  std::unique_ptr<Synchronization> synchronization_;
  MPI_Aint first_displacement_;
  MPI_Aint target_step_;
  std::size_t result_step_;
  bool marks_;
  Transfer transfer_;
  alignas(8) std::array<unsigned char, 8> comparison_{};  // of one element
  std::array<unsigned char, kAnswerBytes> own_answer_{};
  Stamps answer_;
};

}  // namespace fabriscope

#endif
