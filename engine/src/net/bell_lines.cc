#include "bell_lines.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>

#include "entrance.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"
#include "socket.h"
#include "token_gate.h"

namespace fabriscope {
namespace {

constexpr std::int64_t kOpeningNs = 5'000'000'000;
constexpr std::int64_t kAddressNs = 1'500'000'000;

// Whoever has the same is reached through loopback.
std::string network_namespace() {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink("/proc/self/ns/net", target.data(), target.size());
  std::array<char, HOST_NAME_MAX + 1> name{};
  ::gethostname(name.data(), name.size() - 1);
  return std::string(name.data()) + "/" +
         std::string(target.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
}

// Of all interfaces that are up, but loopback, separated by spaces.
std::string own_addresses() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> list(first, &::freeifaddrs);
  std::string text;
  for (const ifaddrs* one = first; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET) continue;
    if ((one->ifa_flags & IFF_UP) == 0 || (one->ifa_flags & IFF_LOOPBACK) != 0) continue;
    sockaddr_in address{};
    std::memcpy(&address, one->ifa_addr, sizeof address);
    std::array<char, INET_ADDRSTRLEN> name{};
    ::inet_ntop(AF_INET, &address.sin_addr, name.data(), name.size());
    text += std::string(" ") + name.data();
  }
  return text;
}

UniqueFd call(const std::string& host, int tcp_port, const std::string& token, int rank) {
  const SocketAddress address = SocketAddress::parse(host + ":" + std::to_string(tcp_port));
  const Call made{[&address] { return make_socket(address.family()); }, address, token,
                  "bell " + std::to_string(rank)};
  return enter(made, {}, kAddressNs);
}

// None where no address of rank 0 answers.
UniqueFd call_any(std::istream& offer, int rank) {
  int tcp_port = 0;
  std::string token;
  std::string place;
  offer >> tcp_port >> token >> place;
  std::vector<std::string> hosts;
  if (place == network_namespace()) hosts.emplace_back("127.0.0.1");
  for (std::string host; offer >> host;) hosts.push_back(host);
  for (const std::string& host : hosts) {
    try {
      return call(host, tcp_port, token, rank);
    } catch (const std::exception&) {
      continue;  // rank 0 has more than one address, and not all are ours to reach
    }
  }
  return {};
}

}  // namespace

BellLines::BellLines(Rendezvous& rendezvous) {
  UniqueFd listener;
  std::string offer;
  std::string token;
  if (rendezvous.rank() == 0) {
    token = random_token();
    const SocketAddress any = SocketAddress::parse("0.0.0.0");
    listener = make_socket(any.family());
    bind_and_listen(listener.get(), any);
    offer = std::to_string(SocketAddress::local_of(listener.get()).tcp_port()) + " " + token + " " +
            network_namespace() + own_addresses();
  }
  offer = rendezvous.broadcast(offer);
  try {
    agree(rendezvous, [&]() -> std::string {
      if (rendezvous.rank() == 0) {
        let_in(rendezvous.rank_count(), listener.get(), token);
      } else {
        std::istringstream text(offer);
        lines_.push_back(call_any(text, rendezvous.rank()));
        if (!lines_.back()) throw CaseError("rank 0 cannot be reached");
      }
      return {};
    });
    are_open_ = true;
  } catch (const CaseError&) {
    lines_.clear();
  }
}

void BellLines::let_in(int rank_count, int listener, const std::string& token) {
  TokenGate gate(listener, token);
  const std::int64_t deadline_ns = SteadyClock::now() + kOpeningNs;
  try {
    while (static_cast<int>(lines_.size()) < rank_count - 1) {
      lines_.push_back(gate.next(deadline_ns - SteadyClock::now()).fd);
      set_option(lines_.back().get(), IPPROTO_TCP, TCP_NODELAY, 1, "set TCP_NODELAY");
    }
  } catch (const std::system_error& error) {
    throw CaseError(error.what());
  }
}

void BellLines::ring() {
  for (const UniqueFd& line : lines_) send_all(line.get(), "!", 1);
}

void BellLines::sleep() {
  char bell = 0;
  recv_all(lines_.front().get(), &bell, sizeof bell);
}

}  // namespace fabriscope
