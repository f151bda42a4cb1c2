// Who is let in: at the gate, at the rendezvous, and at the data port.
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <utility>

#include "check.h"
#include "fabriscope/error.h"
#include "fabriscope/transport.h"
#include "helpers.h"
#include "net/entrance.h"
#include "net/socket.h"
#include "net/token_gate.h"

using namespace fabriscope;
using namespace fabriscope::test;

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

struct Listener {
  UniqueFd fd;
  int tcp_port;
};

Listener listen_anywhere() {
  const SocketAddress address = SocketAddress::parse("127.0.0.1");
  UniqueFd fd = make_socket(address.family());
  bind_and_listen(fd.get(), address);
  const int tcp_port = SocketAddress::local_of(fd.get()).tcp_port();
  return {std::move(fd), tcp_port};
}

// A rendezvous that lets a stranger in on where the transport listens.
class Indiscreet : public Rendezvous {
 public:
  explicit Indiscreet(Rendezvous& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int rank_count() const override { return inner_.rank_count(); }
  std::string broadcast(const std::string& text) override { return inner_.broadcast(text); }
  std::vector<std::string> gather(const std::string& text) override {
    const std::string prefix = "+127.0.0.1:";
    if (text.compare(0, prefix.size(), prefix) == 0) {
      const int tcp_port = std::stoi(text.substr(prefix.size()));
      strangers_.emplace_back(connect_stranger(tcp_port, greeting("guess", "data")));
      strangers_.emplace_back(connect_stranger(tcp_port, ""));
    }
    return inner_.gather(text);
  }

 private:
  Rendezvous& inner_;
  std::vector<UniqueFd> strangers_;
};

}  // namespace

TEST(the_gate_opens_to_the_token_alone) {
  const Listener listener = listen_anywhere();
  TokenGate gate(listener.fd.get(), "right");
  std::vector<UniqueFd> strangers;
  for (const std::string& text :
       {greeting("wrong", "rank 1"), greeting("righ", "rank 1"), greeting("rightx", "rank 1"),
        greeting("", "right"), std::string("GET / HTTP/1.1\r\n\r\n"),
        std::string("\xff\xff\xff\xff"), std::string(4, '\0'), std::string()}) {
    strangers.emplace_back(connect_stranger(listener.tcp_port, text));
  }
  const UniqueFd friendly(
      connect_stranger(listener.tcp_port, greeting("right", "rank 1") + "next"));
  const Greeted greeted = gate.next(10 * kSecondNs);
  CHECK_EQUAL(greeted.purpose, "rank 1");
  char after[4];
  recv_all(greeted.fd.get(), after, sizeof after);
  CHECK_EQUAL(std::string(after, 4), "next");
  gate.close();
  CHECK_EQUAL(gate.rejected_connection_count(), 8);
}

TEST(those_who_wait_in_a_crowd_are_served) {
  const Listener listener = listen_anywhere();
  TokenGate gate(listener.fd.get(), "right");
  std::vector<UniqueFd> strangers;
  const auto crowd = [&](const std::string& text) {
    for (int i = 0; i < 300; ++i) strangers.emplace_back(connect_stranger(listener.tcp_port, text));
  };
  crowd("");
  const UniqueFd early(connect_stranger(listener.tcp_port, greeting("right", "rank 1")));
  crowd(std::string("\0\0", 2));
  const UniqueFd late(connect_stranger(listener.tcp_port, greeting("right", "rank 2")));
  CHECK_EQUAL(gate.next(10 * kSecondNs).purpose, "rank 1");
  CHECK_EQUAL(gate.next(10 * kSecondNs).purpose, "rank 2");
  gate.close();
  CHECK_EQUAL(gate.rejected_connection_count(), 600);
}

TEST(the_gate_answers) {
  const Listener listener = listen_anywhere();
  TokenGate gate(listener.fd.get(), "right");
  const UniqueFd wrong(connect_stranger(listener.tcp_port, greeting("wrong", "rank 1")));
  const UniqueFd right(connect_stranger(listener.tcp_port, greeting("right", "rank 1")));
  gate.next(10 * kSecondNs);
  for (const auto& [fd, expected] : {std::pair{wrong.get(), kRefused}, {right.get(), kWelcome}}) {
    char answer[kVerdictBytes];
    recv_all(fd, answer, sizeof answer);
    CHECK_EQUAL(std::string(answer, sizeof answer), expected);
  }
}

TEST(a_want_of_descriptors_ends_nothing_but_strangers) {
  const Listener listener = listen_anywhere();
  TokenGate gate(listener.fd.get(), "right");
  std::vector<UniqueFd> strangers;
  for (int i = 0; i < 40; ++i) strangers.emplace_back(connect_stranger(listener.tcp_port, ""));
  const UniqueFd friendly(connect_stranger(listener.tcp_port, greeting("right", "rank 1")));
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit tight{static_cast<rlim_t>(friendly.get()) + 4, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &tight);
  const Greeted greeted = gate.next(10 * kSecondNs);
  ::setrlimit(RLIMIT_NOFILE, &before);
  CHECK_EQUAL(greeted.purpose, "rank 1");
}

TEST(who_was_dropped_unheard_tries_again) {
  const Listener listener = listen_anywhere();
  std::atomic<bool> is_in{false};
  std::thread rank([&] {
    const SocketAddress address = SocketAddress::local_of(listener.fd.get());
    const Call call{[] { return make_socket(AF_INET); }, address, "right", "rank 1"};
    is_in = static_cast<bool>(enter(call, {}, 10 * kSecondNs));
  });
  for (int i = 0; i < 2; ++i) UniqueFd(::accept(listener.fd.get(), nullptr, nullptr)).reset();
  TokenGate gate(listener.fd.get(), "right");
  CHECK_EQUAL(gate.next(10 * kSecondNs).purpose, "rank 1");
  rank.join();
  CHECK(is_in.load());
}

TEST(a_refused_rank_says_why) {
  const TemporaryFolder folder;
  const std::string spec =
      folder.write("spec", spec_with("case id=a benchmark=ping_pong message_size_bytes=8\n"));
  Process rank0(folder, "rank0", listening_rank("tcp", spec));
  Process impostor(folder, "impostor", connecting_rank("tcp", rank0.tcp_port()), "another-token");
  CHECK_EQUAL(impostor.wait(), kExitFailure);
  CHECK_CONTAINS(impostor.errors(), "its token is not the run's");
}

TEST(the_gate_gives_up) {
  const Listener listener = listen_anywhere();
  TokenGate gate(listener.fd.get(), "right");
  CHECK_CONTAINS(MESSAGE_OF(std::system_error, gate.next(kSecondNs / 10)), "token");
}

TEST(a_run_without_a_token_is_refused) {
  const TemporaryFolder folder;
  Process process(folder, "rank0", listening_rank("tcp", "-"), "");
  CHECK_EQUAL(process.wait(), kExitUsage);
  CHECK_CONTAINS(process.errors(), "FABRISCOPE_TOKEN");
}

TEST(strangers_do_not_disturb_the_rendezvous) {
  const TemporaryFolder folder;
  const std::string spec =
      folder.write("spec", spec_with("case id=a benchmark=ping_pong message_size_bytes=8\n"));
  Process rank0(folder, "rank0", listening_rank("tcp", spec));
  const int tcp_port = rank0.tcp_port();
  const UniqueFd silent(connect_stranger(tcp_port, ""));
  const UniqueFd guessing(connect_stranger(tcp_port, greeting("guess", "rank 1")));
  Process impostor(folder, "impostor", connecting_rank("tcp", tcp_port), "another-token");
  CHECK_EQUAL(impostor.wait(), kExitFailure);
  Process rank1(folder, "rank1", connecting_rank("tcp", tcp_port));
  CHECK_EQUAL(rank0.wait(), kExitOk);
  CHECK_EQUAL(rank1.wait(), kExitOk);
  CHECK_CONTAINS(last_line(rank0.output()), "\"rejected_connection_count\":3");
}

TEST(strangers_do_not_disturb_the_data_port) {
  Settings settings;
  settings.rendezvous = "threads";
  settings.token = "right";
  std::atomic<std::int64_t> rejected{0};
  rendezvous_registry().create("threads")->run(settings, [&](Rendezvous& inner) {
    Indiscreet rendezvous(inner);
    const auto transport = transport_registry().create("tcp", settings);
    const auto endpoint = transport->open(rendezvous, 1 - inner.rank(), {});
    char message = 'x';
    if (inner.rank() == 0) endpoint->send(&message, 1);
    if (inner.rank() == 1) endpoint->recv(&message, 1);
    rejected += transport->rejected_connection_count();
    return 0;
  });
  CHECK_EQUAL(rejected.load(), 2);
}
