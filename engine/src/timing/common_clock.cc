#include "common_clock.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <utility>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// By how much a clock's rate can differ from its own idea of it, against another's. Crystals keep
// within 100 parts in a million, and so does what a host that keeps time by the network adds.
constexpr double kRateError = 200e-6;
constexpr int kRoundTrips = 10;
constexpr int kFirstComparisons = 5;
constexpr long kBetweenFirstNs = 2'000'000;

std::string content_of(const char* path) {
  std::string text;
  std::getline(std::ifstream(path), text);
  return text;
}

std::string target_of(const char* path) {
  std::array<char, 128> target{};
  const ssize_t length = ::readlink(path, target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

void send_numbers(Endpoint& endpoint, const std::array<std::int64_t, 2>& numbers) {
  endpoint.send(numbers.data(), sizeof numbers);
}

std::array<std::int64_t, 2> recv_numbers(Endpoint& endpoint) {
  std::array<std::int64_t, 2> numbers{};
  endpoint.recv(numbers.data(), sizeof numbers);
  return numbers;
}

}  // namespace

ClockSource source_of(const Clock& clock, bool shared, int rank) {
  ClockSource source;
  source.now_ticks = [&clock] { return clock.now_ticks(); };
  source.ns_per_tick = clock.ns_per_tick();
  source.start_ticks = clock.start_ticks();
  source.reading_error_ns =
      static_cast<std::int64_t>(std::ceil(clock.cost_ns() + clock.resolution_ns()));
  const std::string kernel = content_of("/proc/sys/kernel/random/boot_id");
  if (!shared || kernel.empty()) {
    source.domain = std::to_string(rank);
  } else {
    // CLOCK_MONOTONIC is another one in another time namespace; the counter is not.
    source.domain = clock.name() + ' ' + kernel;
    if (clock.kind() == ClockKind::kSteady) source.domain += ' ' + target_of("/proc/self/ns/time");
  }
  return source;
}

CommonClock::CommonClock(Rendezvous& rendezvous, ClockSource source, const OpenLink& open_link)
    : rendezvous_(rendezvous),
      source_(std::move(source)),
      model_(source_.ns_per_tick, rendezvous.rank() == 0 ? 0.0 : kRateError) {
  find_leaders();
  open_links(open_link);
  if (rendezvous_.rank() == 0) model_.add({source_.start_ticks, 0, 0});
  for (int i = 0; compares() && i < kFirstComparisons; ++i) {
    if (i > 0) {
      const timespec pause{0, kBetweenFirstNs};
      nanosleep(&pause, nullptr);
    }
    compare();
  }
  share_models();
}

void CommonClock::find_leaders() {
  const std::vector<std::string> domains = rendezvous_.exchange(source_.domain);
  for (std::size_t rank = 0; rank < domains.size(); ++rank) {
    const auto first = std::find(domains.begin(), domains.end(), domains[rank]);
    const auto leader = static_cast<int>(first - domains.begin());
    if (leader == static_cast<int>(rank)) leaders_.push_back(leader);
    if (static_cast<int>(rank) == rendezvous_.rank()) own_leader_ = leader;
  }
}

// Step by step twice as many know the time: those of the first half tell it to the second.
void CommonClock::open_links(const OpenLink& open_link) {
  const auto place = static_cast<std::size_t>(
      std::find(leaders_.begin(), leaders_.end(), rendezvous_.rank()) - leaders_.begin());
  for (std::size_t half = 1; half < leaders_.size(); half *= 2) {
    int peer = -1;
    const bool asks = place >= half && place < 2 * half && place < leaders_.size();
    const bool answers = place < half && place + half < leaders_.size();
    if (asks) peer = leaders_[place - half];
    if (answers) peer = leaders_[place + half];
    std::unique_ptr<Endpoint> endpoint = open_link(peer);
    links_.push_back({std::move(endpoint), peer, answers});
  }
}

void CommonClock::refresh() {
  if (!compares()) return;
  compare();
  share_models();
  ++refresh_count_;
}

void CommonClock::compare() {
  for (const Link& link : links_) {
    if (link.peer < 0) continue;
    if (link.answers) {
      answer(*link.endpoint);
    } else {
      ask(*link.endpoint);
    }
  }
}

// To those who read the same clock.
void CommonClock::share_models() {
  const bool leads = own_leader_ == rendezvous_.rank();
  const std::vector<std::string> models =
      rendezvous_.exchange(leads ? model_.packed() : std::string());
  if (!leads) model_ = ClockModel::unpacked(models[static_cast<std::size_t>(own_leader_)]);
}

void CommonClock::answer(Endpoint& endpoint) const {
  const std::int64_t error_before_ns = error_ns(source_.now_ticks());
  for (int i = 0; i < kRoundTrips; ++i) {
    recv_numbers(endpoint);
    send_numbers(endpoint, {now_ns(), 0});
  }
  send_numbers(endpoint, {std::max(error_before_ns, error_ns(source_.now_ticks())), 0});
}

void CommonClock::ask(Endpoint& endpoint) {
  ClockPoint best;
  std::int64_t least_ticks = std::numeric_limits<std::int64_t>::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    const std::int64_t sent = source_.now_ticks();
    send_numbers(endpoint, {0, 0});
    const std::int64_t common_ns = recv_numbers(endpoint)[0];
    const std::int64_t round_trip = source_.now_ticks() - sent;
    if (round_trip >= least_ticks) continue;
    least_ticks = round_trip;
    best = {sent + round_trip / 2, common_ns, 0};
  }
  const double round_trip_ns = static_cast<double>(least_ticks) * source_.ns_per_tick;
  best.error_ns = static_cast<std::int64_t>(std::ceil(round_trip_ns / 2)) +
                  source_.reading_error_ns + recv_numbers(endpoint)[0];
  const auto whole_ns = static_cast<std::int64_t>(round_trip_ns);
  const bool first = least_round_trip_ns_ < 0;
  if (!first) last_correction_ns_ = best.common_ns - model_.common_ns(best.ticks);
  if (first || whole_ns < least_round_trip_ns_) least_round_trip_ns_ = whole_ns;
  model_.add(best);
}

JsonObject CommonClock::summary() const {
  JsonObject object;
  object.add("rank", rendezvous_.rank()).add("same_clock_as", own_leader_);
  const auto asked = std::find_if(links_.begin(), links_.end(),
                                  [](const Link& link) { return link.peer >= 0 && !link.answers; });
  if (asked == links_.end()) {
    object.add_null("compared_with").add_null("least_round_trip_ns").add_null("last_correction_ns");
  } else {
    object.add("compared_with", asked->peer)
        .add("least_round_trip_ns", least_round_trip_ns_)
        .add("last_correction_ns", last_correction_ns_);
  }
  return object.add("offset_ns", common_ns(source_.start_ticks))
      .add("drift_ppm", (model_.ns_per_tick() / source_.ns_per_tick - 1.0) * 1e6)
      .add("error_ns", error_ns(source_.now_ticks()))
      .add("point_count", static_cast<std::int64_t>(model_.point_count()));
}

}  // namespace fabriscope
