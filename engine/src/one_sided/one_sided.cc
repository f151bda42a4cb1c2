#include "one_sided.h"

#ifdef FABRISCOPE_WITH_MPI

#include "fabriscope/error.h"

namespace fabriscope {

void OneSided::prepare(const BenchmarkContext& context) {
  case_.emplace(operation_, context, has_window());
  window_ = Window::of(case_->window_memory);
  window_->reserve(Side::exposed_bytes(*case_), case_->message_size_bytes, case_->result_bytes());
  if (!window_->takes_part()) return;
  const auto synchronization = Synchronization::create(case_->synchronization, *window_);
  if (has_far_check() && !synchronization->is_active() && !window_->is_unified()) {
    throw CaseError(
        "this MPI library keeps a second copy of the window's memory, in which the far "
        "side sees nothing arrive: synchronization must be fence or pscw");
  }
  if (is_bidirectional() && !has_far_check() && !synchronization->is_active()) {
    throw CaseError(
        "nothing would keep the two directions in step: synchronization must be fence "
        "or pscw, or far_check must be 1");
  }
}

void OneSided::run(const BenchmarkContext& context, BurstTimer& timer) {
  if (!window_->takes_part()) {
    timer.run([] {});
    return;
  }
  Side side(*case_, *window_);
  side.begin();
  measure(side, context.rank == 0, timer);
  side.end();
}

std::optional<std::string> OneSided::verify_group(const BenchmarkContext& context,
                                                  std::uint64_t seed) {
  if (!window_->takes_part()) return std::nullopt;
  std::optional<std::string> wrong;
  const auto keep = [&wrong](std::optional<std::string> found) {
    if (!wrong) wrong = std::move(found);
  };
  // All of it in any case: the ranks must stay in step.
  for (const bool is_expected : {true, false}) {
    if (!is_expected && !operation_.compares) continue;
    for (const int target : {0, 1}) {
      const Trial trial(*case_, seed, target, is_expected);
      const bool is_target = context.rank == target;
      keep(check(trial, is_bidirectional() || !is_target, is_bidirectional() || is_target));
    }
  }
  return wrong;
}

std::optional<std::string> OneSided::check(const Trial& trial, bool is_origin, bool is_target) {
  Side side(*case_, *window_);
  const int rank = window_->rank();
  const std::size_t place_count = operation_.writes ? case_->message_count : 1;
  for (std::size_t message = 0; message < place_count; ++message) {
    trial.before(window_->exposed() + message * case_->message_size_bytes, rank, message);
  }
  trial.sent(window_->source(), rank);
  if (operation_.fetches) trial.spoil(window_->result(), window_->peer());
  if (operation_.compares) trial.comparison(side.comparison(), window_->peer());
  window_->barrier();
  Synchronization& synchronization = side.synchronization();
  synchronization.begin();
  if (is_origin && is_target) {
    synchronization.open_both();
    side.start();
    synchronization.close_both();
  } else if (is_origin) {
    synchronization.open();
    side.start();
    synchronization.close();
  } else {
    synchronization.expose();
    synchronization.conceal();
  }
  side.end();
  std::optional<std::string> wrong;
  if (is_target) wrong = trial.wrong_memory(window_->exposed(), rank);
  if (is_origin && operation_.fetches && !wrong) {
    wrong = trial.wrong_result(window_->result(), window_->peer());
  }
  window_->barrier();  // or the next check would write into what is being looked at
  return wrong;
}

}  // namespace fabriscope

#endif
