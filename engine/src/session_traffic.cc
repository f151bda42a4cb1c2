// What all ranks sent to each other, to the byte: rank 0 knows every burst, and what an operation
// of it moves, so that nobody counts while he measures.
#include "session.h"

namespace fabriscope {

void Session::count_operations(std::size_t case_index, const BurstPlan& plan) {
  const CaseState& state = cases_[case_index];
  const CaseSpec& spec = spec_.cases[case_index];
  const std::optional<PairTraffic> one =
      state.benchmark->operation_traffic(spec.message_size_bytes, spec.window_size);
  if (!one) {
    traffic_is_known_ = traffic_is_known_ && state.benchmark->counts_its_traffic();
    return;
  }
  const std::int64_t count = plan.sample_count() * plan.operations_per_sample;
  const PairTraffic all = {{one->there.bytes * count, one->there.messages * count},
                           {one->back.bytes * count, one->back.messages * count}};
  for (const Peers& peers : state.links) count_link(peers, all);
}

// After a burst, of a benchmark that counted what it could not tell before.
void Session::count_burst(std::size_t case_index) {
  const CaseState& state = cases_[case_index];
  const std::vector<PairTraffic> counted = state.benchmark->counted_traffic();
  for (std::size_t link = 0; link < counted.size(); ++link) {
    count_link(state.links[link], counted[link]);
  }
}

// Rank 0 is the lower one of its pair, and all pairs check alike: those of links that it has no
// part in as on its last one.
void Session::count_check(std::size_t case_index, std::size_t link, const PayloadCheck& check) {
  if (rank() != 0) return;
  const CaseState& state = cases_[case_index];
  const bool is_last = link + 1 == state.endpoints.size();
  const std::size_t end = is_last ? state.links.size() : link + 1;
  for (std::size_t at = link; at < end; ++at) {
    count_link(state.links[at], {check.sent(), check.received()});
  }
}

void Session::count_link(const Peers& peers, const PairTraffic& traffic) {
  for (std::size_t index = 0; index < peers.size(); ++index) {
    const int from = static_cast<int>(index);
    const int peer = peers[index];
    if (peer <= from) continue;
    traffic_[{from, peer}] += traffic.there;
    traffic_[{peer, from}] += traffic.back;
  }
}

void Session::report_traffic() {
  if (!traffic_is_known_ || !transport_->capabilities().carries_payload) return;
  JsonObject bytes;
  std::int64_t message_count = 0;
  for (const auto& [ranks, sent] : traffic_) {
    bytes.add(std::to_string(ranks.first) + ">" + std::to_string(ranks.second), sent.bytes);
    message_count += sent.messages;
  }
  reporter_->set_traffic(bytes.text(), message_count);
}

}  // namespace fabriscope
