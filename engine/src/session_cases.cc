// What each case needs before its first burst: its own parameters, and the check of its payload.
#include <algorithm>
#include <new>
#include <sstream>
#include <utility>

#include "fabriscope/error.h"
#include "interrupt.h"
#include "processors.h"
#include "session.h"

namespace fabriscope {
namespace {

// Of the pair alone, where the others beside it have another one.
constexpr char kVictimClass[] = "victim_traffic_class";
// Of stars, for benchmarks that have the parameter.
constexpr char kReceivers[] = "receivers";

// Each rank's partner; -1: it has none.
std::vector<int> pair_of_two(int rank_count) {
  std::vector<int> peers(static_cast<std::size_t>(rank_count), -1);
  if (rank_count < 2) throw CaseError("it takes 2 ranks, and this run has 1");
  peers[0] = 1;
  peers[1] = 0;
  return peers;
}

std::vector<int> pairs_of_all(int rank_count, const std::string& pairing) {
  if (rank_count % 2 != 0) {
    throw CaseError("every rank needs a partner, and this run has " + std::to_string(rank_count) +
                    " ranks");
  }
  if (pairing != "half" && pairing != "neighbour") {
    throw CaseError("pairing is '" + pairing + "', not one of half, neighbour");
  }
  const int half = rank_count / 2;
  std::vector<int> peers;
  for (int rank = 0; rank < rank_count; ++rank) {
    const int partner_by_half = rank < half ? rank + half : rank - half;
    const int neighbour = rank % 2 == 0 ? rank + 1 : rank - 1;
    peers.push_back(pairing == "half" ? partner_by_half : neighbour);
  }
  return peers;
}

int receivers_of(const Parameters& parameters, int rank_count) {
  const std::string text = parameter_or(parameters, kReceivers, "1");
  const bool is_number =
      !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
  const int receiver_count = is_number ? std::stoi(text) : 0;
  if (receiver_count < 1) throw CaseError("receivers is '" + text + "', not 1 or more");
  const int sender_count = rank_count - receiver_count;
  if (sender_count >= receiver_count && sender_count % receiver_count == 0) return receiver_count;
  if (receiver_count == 1) throw CaseError("it takes 2 ranks or more, and this run has 1");
  throw CaseError("receivers is " + text + ", and of " + std::to_string(rank_count) +
                  " ranks each of them cannot have as many senders as the others");
}

// Each receiver with its senders, those of rank 0 first: as many links, for a rank has one peer in
// each.
std::vector<std::vector<int>> stars_of_all(int rank_count, int receiver_count) {
  const int of_each = (rank_count - receiver_count) / receiver_count;
  std::vector<std::vector<int>> links;
  for (int rank = receiver_count; rank < rank_count; ++rank) {
    const int receiver = (rank - receiver_count) / of_each;
    std::vector<int> peers(static_cast<std::size_t>(rank_count), -1);
    peers[static_cast<std::size_t>(receiver)] = rank;
    peers[static_cast<std::size_t>(rank)] = receiver;
    links.push_back(std::move(peers));
  }
  return links;
}

// A link of ranks 0 and 1, of ranks 0 and 2, and of rank 2 with each of those above it.
std::vector<std::vector<int>> pair_beside_star(int rank_count) {
  if (rank_count < 4) {
    throw CaseError("it takes 4 ranks or more, and this run has " + std::to_string(rank_count));
  }
  std::vector<std::pair<int, int>> ends{{0, 1}, {0, 2}};
  for (int rank = 3; rank < rank_count; ++rank) ends.emplace_back(2, rank);
  std::vector<std::vector<int>> links;
  for (const auto& [one, other] : ends) {
    std::vector<int> peers(static_cast<std::size_t>(rank_count), -1);
    peers[static_cast<std::size_t>(one)] = other;
    peers[static_cast<std::size_t>(other)] = one;
    links.push_back(std::move(peers));
  }
  return links;
}

// What the case asks for, or the benchmark's own choice.
Timing choose_timing(const Benchmark& benchmark, const Parameters& parameters) {
  const std::vector<Timing> kinds = benchmark.timing_kinds();
  const std::string asked = parameter_or(parameters, "timing", timing_name(kinds.front()));
  std::string known;
  for (const Timing kind : kinds) {
    if (timing_name(kind) == asked) return kind;
    known += (known.empty() ? "" : ", ") + timing_name(kind);
  }
  throw CaseError("timing is '" + asked + "', not one of " + known);
}

// What the case asks for, or the benchmark's own choice.
BufferUse choose_buffers(const std::vector<BufferUse>& uses, const Parameters& parameters) {
  if (uses.empty()) return BufferUse::kSeparate;
  const std::string asked = parameter_or(parameters, "buffers", buffer_use_name(uses.front()));
  std::string known;
  for (const BufferUse use : uses) {
    if (buffer_use_name(use) == asked) return use;
    known += (known.empty() ? "" : ", ") + buffer_use_name(use);
  }
  throw CaseError("buffers is '" + asked + "', not one of " + known);
}

}  // namespace

void Session::resolve_cases() {
  for (std::size_t index = 0; index < spec_.cases.size(); ++index) {
    cases_.emplace_back();
    cases_[index].benchmark = benchmark_registry().create(spec_.cases[index].benchmark);
  }
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    try {
      resolve_case(index);
    } catch (const CaseError& error) {
      fail_case(index, error.what());
    }
  }
}

// The same at every rank, from the specification alone.
void Session::resolve_case(std::size_t case_index) {
  CaseState& state = cases_[case_index];
  const Benchmark& benchmark = *state.benchmark;
  std::vector<std::string> names = benchmark.parameter_names();
  names.emplace_back("timing");
  if (!benchmark.buffer_uses().empty()) names.emplace_back("buffers");
  if (benchmark.pattern() == Pattern::kPairs) names.emplace_back("pairing");
  if (benchmark.pattern() == Pattern::kBeside) names.emplace_back(kVictimClass);
  for (const auto& [key, value] : spec_.cases[case_index].options) {
    const bool own = std::find(names.begin(), names.end(), key) != names.end();
    (own ? state.parameters : state.options)[key] = value;
  }
  state.timing = choose_timing(benchmark, state.parameters);
  state.buffer_use = choose_buffers(benchmark.buffer_uses(), state.parameters);
  switch (benchmark.pattern()) {
    case Pattern::kPair:
      state.links = {pair_of_two(rendezvous_.rank_count())};
      break;
    case Pattern::kPairs:
      state.links = {pairs_of_all(rendezvous_.rank_count(),
                                  parameter_or(state.parameters, "pairing", "half"))};
      break;
    case Pattern::kStar:
      state.links = stars_of_all(rendezvous_.rank_count(),
                                 receivers_of(state.parameters, rendezvous_.rank_count()));
      break;
    case Pattern::kBeside:
      state.links = pair_beside_star(rendezvous_.rank_count());
      if (const auto own = state.parameters.find(kVictimClass); own != state.parameters.end())
        state.first_options["traffic_class"] = own->second;
      break;
    case Pattern::kGroup:
      if (!transport_->capabilities().has_group_operations) {
        throw CaseError("the " + settings_.transport +
                        " transport has no operations for all ranks at once, as '" +
                        spec_.cases[case_index].benchmark + "' needs");
      }
      refuse_options(settings_.transport, state.options);
      break;
  }
}

void Session::refuse_impossible_cases() {
  const std::size_t least_bytes = transport_->capabilities().minimum_message_bytes;
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    const CaseState& state = cases_[index];
    if (state.failed || !state.benchmark->moves_payload()) continue;
    if (state.benchmark->reads_payload() && !transport_->capabilities().carries_payload) {
      fail_case(index, "the " + settings_.transport + " transport carries no payload, which '" +
                           spec_.cases[index].benchmark + "' goes by");
      continue;
    }
    if (spec_.cases[index].message_size_bytes >= least_bytes) continue;
    fail_case(index, "the " + settings_.transport + " transport carries no message of less than " +
                         std::to_string(least_bytes) + " bytes");
  }
}

void Session::open_common_clock() {
  std::vector<std::size_t> users;
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    const CaseState& state = cases_[index];
    if (!state.failed && state.timing == Timing::kCommonClock) users.push_back(index);
  }
  if (users.empty()) return;
  const Watchdog::Guard guard(watchdog_, spec_.cases[users.front()].id, kOpeningNs);
  const ClockSource source = source_of(clock_, spec_.share_clocks, rank());
  try {
    is_crowded_ = is_crowded(rendezvous_, source.domain);
    common_clock_ = std::make_unique<CommonClock>(
        rendezvous_, source, [this](int peer) { return transport_->open(rendezvous_, peer, {}); });
  } catch (const CaseError& error) {
    for (const std::size_t index : users) fail_case(index, error.what());
  }
}

void Session::prepare_cases() {
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    CaseState& state = cases_[index];
    if (state.failed) continue;
    current_case_ = spec_.cases[index].id;
    const Watchdog::Guard guard(watchdog_, current_case_);
    try {
      agree(rendezvous_, [&]() -> std::string {
        try {
          state.benchmark->prepare(context_of(index));
        } catch (const std::bad_alloc&) {
          throw CaseError("there is not enough memory for its buffers");
        }
        return {};
      });
    } catch (const CaseError& error) {
      fail_case(index, error.what());
    }
    current_case_.reset();
  }
}

void Session::verify_cases() {
  if (!transport_->capabilities().carries_payload) return;
  for (std::size_t index = 0; index < cases_.size() && signal_number_ == 0; ++index) {
    const CaseState& state = cases_[index];
    if (!state.failed && state.benchmark->moves_payload()) verify_case(index);
  }
}

void Session::verify_case(std::size_t case_index) {
  current_case_ = spec_.cases[case_index].id;
  const Watchdog::Guard guard(watchdog_, current_case_);
  const std::optional<std::string> found = verify_payload(case_index);
  std::optional<std::string> mismatch;
  try {
    for (const std::string& text : agree(rendezvous_, [&] {
           if (found) throw CaseError("the payload arrived changed: " + *found);
           return std::to_string(interrupting_signal());
         })) {
      note_signal(std::stoi(text));
    }
  } catch (const CaseError& error) {
    mismatch = error.what();
  }
  current_case_.reset();
  if (reporter_ != nullptr) {
    reporter_->line(JsonObject()
                        .add("type", "verification")
                        .add("case", std::string_view(spec_.cases[case_index].id))
                        .add("ok", !mismatch));
  }
  if (mismatch) fail_case(case_index, *mismatch);
}

void Session::tell_metrics() {
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    const CaseSpec& spec = spec_.cases[index];
    const auto metric = cases_[index].benchmark->metric(spec.message_size_bytes, spec.window_size);
    if (!metric) continue;
    reporter_->line(JsonObject()
                        .add("type", "metric")
                        .add("case", std::string_view(spec.id))
                        .add("metric_id", std::string_view(metric->id))
                        .add("amount_per_operation", metric->amount_per_operation));
  }
}

// What is wrong at this rank, or nothing.
std::optional<std::string> Session::verify_payload(std::size_t case_index) {
  const CaseState& state = cases_[case_index];
  const std::uint64_t seed = spec_.seed + case_index;
  if (state.benchmark->pattern() == Pattern::kGroup) {
    return state.benchmark->verify_group(context_of(case_index), seed);
  }
  std::optional<std::string> mismatch;
  const std::vector<int> peers = peers_of(state);
  for (std::size_t i = 0; i < state.endpoints.size(); ++i) {
    PayloadCheck check(*state.endpoints[i], rank(), peers[i], seed, watchdog_.progress());
    state.benchmark->verify(context_of(case_index, i), check);
    count_check(case_index, i, check);
    if (!mismatch) mismatch = check.mismatch();
  }
  return mismatch;
}

void Session::fail_case(std::size_t case_index, const std::string& reason) {
  cases_[case_index].failed = true;
  if (reporter_ != nullptr) reporter_->failure(spec_.cases[case_index].id, reason);
}

}  // namespace fabriscope
