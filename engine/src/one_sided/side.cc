#include "side.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

constexpr std::size_t kSideLineBytes = 64;

std::size_t answer_offset(const OneSidedCase& its_case) {
  return (its_case.exposed_bytes() / kSideLineBytes + 1) * kSideLineBytes;
}

}  // namespace

Side::Side(const OneSidedCase& its_case, Window& window)
    : case_(its_case),
      window_(window),
      synchronization_(Synchronization::create(its_case.synchronization, window)),
      first_displacement_(window.peer_displacement()),
      target_step_(static_cast<MPI_Aint>(its_case.target_step_bytes())),
      result_step_(its_case.result_step_bytes()),
      marks_(its_case.has_far_check && !its_case.adds_up()),
      transfer_{window.handle(), window.peer(),   first_displacement_,
                window.source(), window.result(), comparison_.data(),
                its_case.count,  its_case.type,   its_case.op},
      answer_(Stamps::of<std::uint8_t>(kAnswerBytes)) {}

std::size_t Side::exposed_bytes(const OneSidedCase& its_case) {
  return answer_offset(its_case) + kSideLineBytes;
}

void Side::begin() {
  case_.stamps.fill(window_.source(), case_.adds_up() ? 1 : 0);
  unsigned char* place = window_.exposed();
  const std::size_t place_count = case_.operation.writes ? case_.message_count : 1;
  for (std::size_t message = 0; message < place_count; ++message) {
    // A reduction reads all that stands there; of the rest only the stamps matter.
    if (case_.operation.has_reduction) {
      case_.stamps.fill(place, 0);
    } else {
      case_.stamps.write(place, 0);
    }
    place += case_.message_size_bytes;
  }
  comparison_.fill(0);
  answer_.fill(answer_place(), 0);
  window_.barrier();  // or the other's first message might be overwritten
  synchronization_->begin();
}

void Side::end() {
  synchronization_->end();
  window_.barrier();
}

void Side::start_answer(std::int64_t number) {
  answer_.write(own_answer_.data(), number);
  const auto displacement = first_displacement_ + static_cast<MPI_Aint>(answer_offset(case_));
  MPI_Put(own_answer_.data(), kAnswerBytes, MPI_BYTE, window_.peer(), displacement, kAnswerBytes,
          MPI_BYTE, window_.handle());
}

unsigned char* Side::answer_place() const { return window_.exposed() + answer_offset(case_); }

}  // namespace fabriscope

#endif
