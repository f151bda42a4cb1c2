// Ranks that meet over TCP: rank 0 listens, the others connect and present the run's token.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <utility>

#include "../net/entrance.h"
#include "../net/socket.h"
#include "../net/token_gate.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"
#include "fabriscope/rendezvous.h"

namespace fabriscope {
namespace {

constexpr std::uint32_t kMaxTextBytes = 64U << 20;
// How long two connections of one rank may take to show which of them was given up.
constexpr int kGivenUpMs = 1000;

// A host that dies says nothing; without these a rank would wait for it for hours.
void notice_dead_hosts(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "set TCP_NODELAY");
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1, "set SO_KEEPALIVE");
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 5, "set TCP_KEEPIDLE");
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 2, "set TCP_KEEPINTVL");
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 5, "set TCP_KEEPCNT");
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 15'000, "set TCP_USER_TIMEOUT");
}

void send_text(int fd, const std::string& text) {
  const std::uint32_t length = htonl(static_cast<std::uint32_t>(text.size()));
  std::string frame(reinterpret_cast<const char*>(&length), sizeof length);
  frame += text;
  send_all(fd, frame.data(), frame.size());
}

std::string recv_text(int fd) {
  std::uint32_t length = 0;
  recv_all(fd, &length, sizeof length);
  length = ntohl(length);
  if (length > kMaxTextBytes) throw RunError("a peer announced a text of more than 64 MiB");
  std::string text(length, '\0');
  recv_all(fd, text.data(), text.size());
  return text;
}

// The greeting's purpose: "rank N".
int parse_rank(const std::string& purpose, int rank_count) {
  for (int rank = 1; rank < rank_count; ++rank) {
    if (purpose == "rank " + std::to_string(rank)) return rank;
  }
  throw RunError("a process joined as '" + purpose + "', which is no rank of this run");
}

class TcpRendezvous : public Rendezvous {
 public:
  TcpRendezvous(int rank, std::vector<UniqueFd> peers, std::int64_t rejected_connection_count)
      : rank_(rank),
        peers_(std::move(peers)),
        rejected_connection_count_(rejected_connection_count) {}

  int rank() const override { return rank_; }
  int rank_count() const override { return static_cast<int>(peers_.size()); }

  std::vector<std::string> gather(const std::string& text) override {
    if (rank_ != 0) {
      with_peer(0, [&](int fd) { send_text(fd, text); });
      return {};
    }
    std::vector<std::string> texts{text};
    for (std::size_t peer = 1; peer < peers_.size(); ++peer) {
      with_peer(peer, [&](int fd) { texts.push_back(recv_text(fd)); });
    }
    return texts;
  }

  std::string broadcast(const std::string& text) override {
    std::string received = text;
    if (rank_ != 0) with_peer(0, [&](int fd) { received = recv_text(fd); });
    for (std::size_t peer = 1; rank_ == 0 && peer < peers_.size(); ++peer) {
      with_peer(peer, [&](int fd) { send_text(fd, text); });
    }
    return received;
  }

  int departed_rank() override {
    for (std::size_t peer = 0; peer < peers_.size(); ++peer) {
      if (!peers_[peer]) continue;
      pollfd looking{peers_[peer].get(), POLLRDHUP, 0};
      if (::poll(&looking, 1, 0) > 0) return static_cast<int>(peer);
    }
    return -1;
  }

  std::int64_t rejected_connection_count() const override { return rejected_connection_count_; }

 private:
  template <typename Transfer>
  void with_peer(std::size_t peer, Transfer transfer) {
    try {
      transfer(peers_[peer].get());
    } catch (const RunError& error) {
      throw RunError("the rendezvous lost rank " + std::to_string(peer) + ": " + error.what());
    }
  }

  int rank_;
  std::vector<UniqueFd> peers_;  // by rank; rank 0 has all others, the others have rank 0
  std::int64_t rejected_connection_count_;
};

// A rank whose connection broke before it was let in makes another one.
bool is_given_up(int fd, int patience_ms) {
  pollfd looking{fd, POLLRDHUP, 0};
  return ::poll(&looking, 1, patience_ms) > 0;
}

std::unique_ptr<Rendezvous> listen_for_peers(const Settings& settings) {
  const SocketAddress address = SocketAddress::parse(settings.listen);
  UniqueFd listener = make_socket(address.family());
  bind_and_listen(listener.get(), address);
  TokenGate gate(listener.get(), settings.token);
  if (settings.on_listening) {
    settings.on_listening(SocketAddress::local_of(listener.get()).tcp_port());
  }
  std::vector<UniqueFd> peers(static_cast<std::size_t>(settings.rank_count));
  const std::int64_t deadline_ns = SteadyClock::now() + settings.connect_timeout_ns;
  for (int missing = settings.rank_count - 1; missing > 0;) {
    Greeted greeted = gate.next(deadline_ns - SteadyClock::now());
    const int rank = parse_rank(greeted.purpose, settings.rank_count);
    UniqueFd& place = peers[static_cast<std::size_t>(rank)];
    notice_dead_hosts(greeted.fd.get());
    if (!place) {
      --missing;
    } else if (is_given_up(greeted.fd.get(), 0)) {
      continue;
    } else if (!is_given_up(place.get(), kGivenUpMs)) {
      throw RunError("two processes say that they are rank " + std::to_string(rank));
    }
    place = std::move(greeted.fd);
  }
  gate.close();
  return std::make_unique<TcpRendezvous>(0, std::move(peers), gate.rejected_connection_count());
}

// The launcher may start the ranks in any order, and strangers may crowd the door.
std::unique_ptr<Rendezvous> join(const Settings& settings) {
  const SocketAddress address = SocketAddress::parse(settings.connect);
  const Call call{[&address] { return make_socket(address.family()); }, address, settings.token,
                  "rank " + std::to_string(settings.rank)};
  std::vector<UniqueFd> peers(static_cast<std::size_t>(settings.rank_count));
  peers[0] = enter(call, {}, settings.connect_timeout_ns);
  notice_dead_hosts(peers[0].get());
  return std::make_unique<TcpRendezvous>(settings.rank, std::move(peers), 0);
}

class TcpRendezvousKind : public RendezvousKind {
 public:
  int run(const Settings& settings, const RankProgram& program) override {
    if (settings.rank < 0) throw UsageError("the tcp rendezvous needs --rank");
    if (settings.token.empty()) {
      throw UsageError("the tcp rendezvous needs the run's token in FABRISCOPE_TOKEN");
    }
    if (settings.rank == 0 && settings.listen.empty()) {
      throw UsageError("rank 0 of the tcp rendezvous needs --listen ADDR[:PORT]");
    }
    if (settings.rank > 0 && settings.connect.empty()) {
      throw UsageError("rank " + std::to_string(settings.rank) +
                       " of the tcp rendezvous needs --connect ADDR:PORT");
    }
    const auto rendezvous = settings.rank == 0 ? listen_for_peers(settings) : join(settings);
    return program(*rendezvous);
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(rendezvous_registry, "tcp",
                    [] { return std::make_unique<fabriscope::TcpRendezvousKind>(); })
