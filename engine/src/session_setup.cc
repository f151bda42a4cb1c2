// What happens before the first burst: who takes part, and the connections.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ctime>

#include "engine_version.h"
#include "fabriscope/error.h"
#include "json.h"
#include "net/token_gate.h"
#include "processors.h"
#include "session.h"

namespace fabriscope {
namespace {

std::string self_description(int rank) {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  JsonObject object;
  object.add("rank", rank).add("host", host.data()).add("pid", static_cast<int>(getpid()));
  const std::string processors = allowed_processors();
  if (!processors.empty()) object.add("processors", processors);
  return object.add("engine_version", kEngineVersion).text();
}

std::int64_t unix_time_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

std::string clock_text(const Clock& clock) {
  JsonObject object;
  object.add("name", clock.name())
      .add("cost_ns", clock.cost_ns())
      .add("resolution_ns", clock.resolution_ns());
  return object.text();
}

// Numbers as numbers, the rest as strings: as the specification wrote them.
std::string options_text(const OptionSet& options) {
  JsonObject object;
  for (const auto& [key, value] : options) {
    const bool number = !value.empty() && value.size() < 18 &&
                        value.find_first_not_of("0123456789") == std::string::npos;
    if (number) {
      object.add(key, static_cast<std::int64_t>(std::stoll(value)));
    } else {
      object.add(key, std::string_view(value));
    }
  }
  return object.text();
}

std::string fields_text(const Fields& fields) { return JsonObject().add_fields(fields).text(); }

template <typename Range, typename ToText>
std::string json_array(const Range& range, ToText to_text) {
  std::string text = "[";
  for (const auto& item : range) {
    if (text.size() > 1) text += ',';
    text += to_text(item);
  }
  return text + "]";
}

// The first rank that takes part in a link.
std::size_t first_of(const std::vector<int>& peers) {
  std::size_t rank = 0;
  while (peers[rank] < 0) ++rank;
  return rank;
}

}  // namespace

// A launcher gives every rank the token in its environment. Where the ranks are threads or came
// together by MPI nobody had to, and rank 0 draws one: the data ports are never open to all.
void Session::share_token() {
  std::string token = settings_.token;
  if (rank() == 0 && token.empty()) token = random_token();
  settings_.token = rendezvous_.broadcast(rank() == 0 ? token : std::string());
}

// Before anything is allocated for messages: memory lies where the processor is that touches it.
void Session::take_processors() {
  if (settings_.processors.empty()) return;
  if (settings_.processors.size() != static_cast<std::size_t>(rendezvous_.rank_count())) {
    throw RunError("--processors is for " + std::to_string(settings_.processors.size()) +
                   " ranks, and there are " + std::to_string(rendezvous_.rank_count()));
  }
  try {
    agree(rendezvous_, [this]() -> std::string {
      try {
        confine_to(settings_.processors[static_cast<std::size_t>(rank())]);
      } catch (const CaseError&) {
        if (!settings_.may_run_elsewhere) throw;  // else the header says where it runs
      }
      return {};
    });
  } catch (const CaseError& error) {
    throw RunError(error.what());
  }
}

void Session::describe_run() {
  const std::vector<std::string> ranks = rendezvous_.exchange(self_description(rank()));
  if (reporter_ == nullptr) return;
  JsonObject header;
  header.add("type", "header")
      .add("format", "fabriscope-engine")
      .add("version", kStreamVersion)
      .add("engine_version", kEngineVersion)
      .add("transport", std::string_view(settings_.transport))
      .add("rendezvous", std::string_view(settings_.rendezvous))
      .add("rank_count", rendezvous_.rank_count())
      .add_raw("ranks", json_array(ranks, [](const std::string& text) { return text; }))
      .add_raw("clock", clock_text(clock_))
      .add("record_cost_ns", clock_.record_cost_ns());
  const std::optional<std::string> library = transport_->library_version();
  if (library) {
    header.add("library_version", std::string_view(*library));
  } else {
    header.add_null("library_version");
  }
  header.add_raw("seed", std::to_string(spec_.seed))
      .add("budget_ns", spec_.budget_ns)
      .add("burst_ns", spec_.burst_ns)
      .add("max_burst_operations", spec_.max_burst_operations)
      .add("case_timeout_ns", spec_.case_timeout_ns)
      .add("sample_memory_bytes", spec_.sample_memory_bytes)
      .add("verify", spec_.verify)
      .add("case_count", static_cast<std::int64_t>(spec_.cases.size()))
      .add("start_unix_ns", unix_time_ns() - clock_.elapsed_ns());
  reporter_->line(header);
}

void Session::open_endpoints() {
  make_buffers();
  make_pools();
  for (const Link& link : needed_links()) open_link(link);
  // Links that an earlier case needed were opened in its order.
  for (CaseState& state : cases_) {
    for (const auto& [number, endpoint] : state.ends) state.endpoints.push_back(endpoint);
  }
  report_rejected_connections();
}

// In the order of the first case that asks for it: the same at every rank.
std::vector<Session::Link> Session::needed_links() const {
  std::vector<Link> links;
  for (std::size_t index = 0; index < cases_.size(); ++index) {
    const CaseState& state = cases_[index];
    if (state.failed) continue;
    for (std::size_t at = 0; at < state.links.size(); ++at) {
      const Peers& peers = state.links[at];
      const OptionSet options = options_of(state, at);
      auto found = std::find_if(links.begin(), links.end(), [&](const Link& link) {
        return link.options == options && link.peers == peers;
      });
      if (found == links.end()) found = links.insert(found, Link{peers, options, {}});
      found->case_indexes.push_back(index);
    }
  }
  return links;
}

OptionSet Session::options_of(const CaseState& state, std::size_t link) {
  OptionSet options = state.options;
  if (link > 0) return options;
  for (const auto& [key, value] : state.first_options) options[key] = value;
  return options;
}

void Session::report_rejected_connections() {
  std::int64_t rejected = 0;
  for (const std::string& text : rendezvous_.gather(std::to_string(
           transport_->rejected_connection_count() + rendezvous_.rejected_connection_count()))) {
    rejected += std::stoll(text);
  }
  if (reporter_ != nullptr) reporter_->set_rejected_connection_count(rejected);
}

void Session::open_link(const Link& link) {
  std::vector<std::size_t> case_indexes;
  for (const std::size_t index : link.case_indexes) {
    if (!cases_[index].failed) case_indexes.push_back(index);
  }
  if (case_indexes.empty()) return;  // another of their links failed
  const Watchdog::Guard guard(watchdog_, spec_.cases[case_indexes.front()].id, kOpeningNs);
  const int peer = peer_in(link.peers);
  try {
    endpoints_.push_back(transport_->open(rendezvous_, peer, link.options));
  } catch (const CaseError& error) {
    for (const std::size_t index : case_indexes) fail_case(index, error.what());
    return;
  }
  Endpoint* endpoint = peer >= 0 ? endpoints_.back().get() : nullptr;
  std::size_t request_count = 0;
  for (const std::size_t index : case_indexes) {
    if (endpoint != nullptr) add_end(cases_[index], link, endpoint);
    request_count = std::max(
        request_count, cases_[index].benchmark->request_count(spec_.cases[index].window_size));
  }
  if (endpoint != nullptr) endpoint->reserve(request_count);
  fail_too_long_cases(endpoint, link.peers, case_indexes);
  use_buffers(endpoint, case_indexes);
  report_endpoint(link, endpoint != nullptr ? endpoint->effective_options() : Fields());
}

void Session::add_end(CaseState& state, const Link& link, Endpoint* endpoint) {
  for (std::size_t at = 0; at < state.links.size(); ++at) {
    if (state.links[at] == link.peers && options_of(state, at) == link.options) {
      state.ends[at] = endpoint;
    }
  }
}

// By the word of the first rank that has a peer: one without has no endpoint to ask.
void Session::fail_too_long_cases(const Endpoint* endpoint, const Peers& peers,
                                  const std::vector<std::size_t>& case_indexes) {
  const std::size_t own_bytes = endpoint != nullptr ? endpoint->maximum_message_bytes() : 0;
  const std::vector<std::string> told = rendezvous_.exchange(std::to_string(own_bytes));
  const std::size_t most_bytes = std::stoull(told[first_of(peers)]);
  for (const std::size_t index : case_indexes) {
    if (spec_.cases[index].message_size_bytes <= most_bytes) continue;
    fail_case(index, "the " + settings_.transport + " transport carries no message of more than " +
                         std::to_string(most_bytes) + " bytes here");
  }
}

void Session::report_endpoint(const Link& link, const Fields& effective) {
  const std::vector<std::string> texts = rendezvous_.gather(fields_text(effective));
  if (reporter_ == nullptr) return;
  const std::size_t first = first_of(link.peers);
  JsonObject object;
  object.add("type", "endpoint")
      .add("id", static_cast<std::int64_t>(endpoints_.size()) - 1)
      .add_raw("options", options_text(link.options))
      .add_raw("effective", texts[first])
      .add_raw("peer_effective", texts[static_cast<std::size_t>(link.peers[first])])
      .add_raw("cases", json_array(link.case_indexes, [&](std::size_t index) {
                 return json_string(spec_.cases[index].id);
               }));
  reporter_->line(object);
}

}  // namespace fabriscope
