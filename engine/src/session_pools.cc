// Memory for messages: two buffers for all cases, and two pools for those that never come back to a
// place before the last-level cache has forgotten it.
#include <algorithm>
#include <new>

#include "fabriscope/error.h"
#include "host_memory.h"
#include "session.h"

namespace fabriscope {
namespace {

// Where nobody says how large the last-level cache is.
constexpr std::size_t kAssumedCacheBytes = 64U << 20;
// Of what is available, this many quarters may be taken by the pools of all ranks there.
constexpr std::size_t kQuarters = 3;

std::string mib(std::size_t bytes) { return std::to_string(bytes >> 20U) + " MiB"; }

}  // namespace

void Session::make_buffers() {
  std::size_t send_bytes = 0;
  std::size_t receive_bytes = 0;
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    if (cases_[index].failed) continue;
    send_bytes = std::max(send_bytes, send_place_bytes(index));
    receive_bytes = std::max(receive_bytes, receive_place_bytes(index));
  }
  send_buffer_ = MessageBuffer(send_bytes);
  receive_buffer_ = MessageBuffer(receive_bytes);
}

std::size_t Session::send_place_bytes(std::size_t case_index) const {
  return cases_[case_index].benchmark->buffer_bytes(spec_.cases[case_index].message_size_bytes,
                                                    rendezvous_.rank_count());
}

std::size_t Session::receive_place_bytes(std::size_t case_index) const {
  return cases_[case_index].benchmark->receive_buffer_bytes(
      spec_.cases[case_index].message_size_bytes, rendezvous_.rank_count(),
      std::max<std::size_t>(peers_of(cases_[case_index]).size(), 1));
}

bool Session::rotates(std::size_t case_index) const {
  const CaseState& state = cases_[case_index];
  return !state.failed && state.buffer_use == BufferUse::kRotating;
}

// A quarter more than the cache, and no less than twice what is under way at once.
std::size_t Session::pool_bytes(const std::vector<std::size_t>& case_indexes) const {
  const std::size_t cache_bytes = last_level_cache_bytes().value_or(kAssumedCacheBytes);
  std::size_t bytes = cache_bytes + cache_bytes / 4;
  if (spec_.pool_bytes > 0) bytes = static_cast<std::size_t>(spec_.pool_bytes);
  for (const std::size_t index : case_indexes) {
    const std::size_t place_bytes =
        Rotation::stride_of(std::max(send_place_bytes(index), receive_place_bytes(index)));
    bytes = std::max(bytes, 2 * place_bytes * spec_.cases[index].window_size);
  }
  return bytes;
}

void Session::make_pools() {
  std::vector<std::size_t> case_indexes;
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    if (rotates(index)) case_indexes.push_back(index);
  }
  if (case_indexes.empty()) return;
  const Watchdog::Guard guard(watchdog_, spec_.cases[case_indexes.front()].id, kOpeningNs);
  const std::vector<std::string> memories = rendezvous_.exchange(memory_identity());
  const auto sharing = static_cast<std::size_t>(
      std::count(memories.begin(), memories.end(), memories[static_cast<std::size_t>(rank())]));
  const std::size_t bytes = pool_bytes(case_indexes);
  try {
    agree(rendezvous_, [&]() -> std::string {
      const std::optional<std::size_t> available = available_memory_bytes();
      if (!available || 2 * bytes * sharing <= *available / 4 * kQuarters) return {};
      throw CaseError("rotating buffers need two pools of " + mib(bytes) + " at each of " +
                      std::to_string(sharing) + " ranks, and " + mib(*available) +
                      " of memory are available there");
    });
    agree(rendezvous_, [&]() -> std::string {
      try {
        send_pool_ = MessageBuffer(bytes);
        receive_pool_ = MessageBuffer(bytes);
      } catch (const std::bad_alloc&) {
        throw CaseError("there is no memory for two pools of " + mib(bytes));
      }
      return {};
    });
  } catch (const CaseError& error) {
    for (const std::size_t index : case_indexes) fail_case(index, error.what());
    return;
  }
  report_pools(bytes, case_indexes);
}

void Session::report_pools(std::size_t bytes, const std::vector<std::size_t>& case_indexes) {
  if (reporter_ == nullptr) return;
  JsonObject object;
  object.add("type", "pool").add("pool_bytes", static_cast<std::int64_t>(bytes));
  const std::optional<std::size_t> cache_bytes = last_level_cache_bytes();
  if (cache_bytes) {
    object.add("last_level_cache_bytes", static_cast<std::int64_t>(*cache_bytes));
  } else {
    object.add_null("last_level_cache_bytes");
  }
  object.add("case_count", static_cast<std::int64_t>(case_indexes.size()));
  reporter_->line(object);
}

void Session::use_buffers(Endpoint* endpoint, const std::vector<std::size_t>& case_indexes) {
  use_memory(endpoint, case_indexes, send_buffer_, receive_buffer_);
  std::vector<std::size_t> rotating;
  for (const std::size_t index : case_indexes) {
    if (rotates(index)) rotating.push_back(index);
  }
  if (!rotating.empty()) use_memory(endpoint, rotating, send_pool_, receive_pool_);
}

void Session::use_memory(Endpoint* endpoint, const std::vector<std::size_t>& case_indexes,
                         MessageBuffer& sent, MessageBuffer& received) {
  try {
    agree(rendezvous_, [&]() -> std::string {
      if (endpoint == nullptr) return {};
      endpoint->use_memory(sent.data(), sent.size_bytes());
      endpoint->use_memory(received.data(), received.size_bytes());
      return {};
    });
  } catch (const CaseError& error) {
    for (const std::size_t index : case_indexes) {
      if (!cases_[index].failed) fail_case(index, error.what());
    }
  }
}

// Where a case's messages come from, and go to.
std::pair<Rotation, Rotation> Session::places_of(std::size_t case_index) {
  switch (cases_[case_index].buffer_use) {
    case BufferUse::kSame:
      return {Rotation(receive_buffer_.data()), Rotation(receive_buffer_.data())};
    case BufferUse::kSeparate:
      break;
    case BufferUse::kRotating:
      return {Rotation(send_pool_.data(), send_pool_.size_bytes(), send_place_bytes(case_index),
                       sent_from_),
              Rotation(receive_pool_.data(), receive_pool_.size_bytes(),
                       receive_place_bytes(case_index), received_at_)};
  }
  return {Rotation(send_buffer_.data()), Rotation(receive_buffer_.data())};
}

}  // namespace fabriscope
