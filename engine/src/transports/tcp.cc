// TCP through the kernel's sockets: blocking send() and recv(), one call a message where the kernel
// takes it whole.
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

#include "../net/entrance.h"
#include "../net/socket.h"
#include "../net/token_gate.h"
#include "fabriscope/error.h"
#include "fabriscope/transport.h"
#include "tcp_options.h"

namespace fabriscope {
namespace {

constexpr std::int64_t kConnectLimitNs = 10'000'000'000;
constexpr char kPurpose[] = "data";

struct SocketSend {
  const unsigned char* next;
  std::size_t left_bytes;
};

struct SocketRecv {
  unsigned char* next;
  std::size_t left_bytes;
};

class TcpEndpoint : public Endpoint {
 public:
  explicit TcpEndpoint(UniqueFd fd) : fd_(std::move(fd)) {}

  void send(const void* data, std::size_t size_bytes) override {
    send_all(fd_.get(), data, size_bytes);
  }
  void recv(void* data, std::size_t size_bytes) override { recv_all(fd_.get(), data, size_bytes); }

  void reserve(std::size_t request_count) override {
    sends_.reserve(request_count);
    recvs_.reserve(request_count);
  }
  void post_send(const void* data, std::size_t size_bytes) override {
    sends_.push_back({static_cast<const unsigned char*>(data), size_bytes});
  }
  void post_recv(void* data, std::size_t size_bytes) override {
    recvs_.push_back({static_cast<unsigned char*>(data), size_bytes});
  }

  void wait_all() override {
    if (recvs_.empty()) {
      for (const SocketSend& request : sends_) send(request.next, request.left_bytes);
    } else if (sends_.empty()) {
      for (const SocketRecv& request : recvs_) recv(request.next, request.left_bytes);
    } else {
      while (!is_done()) {
        if (!advance()) await(sent_ < sends_.size(), received_ < recvs_.size());
      }
    }
    forget();
  }
  bool test_all() override {
    while (advance()) {
    }
    if (!is_done()) return false;
    forget();
    return true;
  }
  std::int64_t partly_arrived_bytes() const override { return arrived_bytes_; }
  int readable_fd() override { return sent_ == sends_.size() ? fd_.get() : -1; }

  Fields effective_options() const override { return effective_tcp_options(fd_.get()); }

 private:
  bool is_done() const { return sent_ == sends_.size() && received_ == recvs_.size(); }

  void forget() {
    sends_.clear();
    recvs_.clear();
    sent_ = 0;
    received_ = 0;
    arrived_bytes_ = 0;
  }

  // In both directions, without waiting in either: two ranks that both wait to send, each with the
  // other's messages unread, would wait for ever. False where there was nothing to do.
  bool advance() {
    const bool out = sent_ < sends_.size() && push(sends_[sent_]);
    if (out && sends_[sent_].left_bytes == 0) ++sent_;
    const bool in = received_ < recvs_.size() && pull(recvs_[received_]);
    if (in && recvs_[received_].left_bytes == 0) ++received_;
    return out || in;
  }

  bool push(SocketSend& request) {
    const ssize_t count =
        ::send(fd_.get(), request.next, request.left_bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0) return nothing_yet("send to the peer");
    request.next += count;
    request.left_bytes -= static_cast<std::size_t>(count);
    return true;
  }

  bool pull(SocketRecv& request) {
    const ssize_t count = ::recv(fd_.get(), request.next, request.left_bytes, MSG_DONTWAIT);
    if (count < 0) return nothing_yet("receive from the peer");
    if (count == 0) throw RunError("the peer closed its connection");
    arrived_bytes_ += count;
    request.next += count;
    request.left_bytes -= static_cast<std::size_t>(count);
    return true;
  }

  static bool nothing_yet(const char* attempted) {
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return false;
    throw RunError(system_failure(attempted).what());
  }

  void await(bool to_send, bool to_receive) {
    const int events = (to_send ? POLLOUT : 0) | (to_receive ? POLLIN : 0);
    pollfd waiting{fd_.get(), static_cast<short>(events), 0};
    ::poll(&waiting, 1, -1);
  }

  UniqueFd fd_;
  std::vector<SocketSend> sends_;
  std::vector<SocketRecv> recvs_;
  std::size_t sent_ = 0;  // of these; by test_all(), which may leave some half done
  std::size_t received_ = 0;
  std::int64_t arrived_bytes_ = 0;  // of the receives; by test_all()
};

class TcpTransport : public Transport {
 public:
  explicit TcpTransport(const Settings& settings)
      : token_(settings.token), interface_(settings.interface), address_(data_address(settings)) {}

  TransportCapabilities capabilities() const override { return {true, 1}; }
  std::int64_t rejected_connection_count() const override { return rejected_connection_count_; }

  // The lower rank listens. Its options are set before it does and the other's before it
  // connects: the kernel chooses the window's scale from them when the connection is made.
  std::unique_ptr<Endpoint> open(Rendezvous& rendezvous, int peer,
                                 const OptionSet& asked) override {
    const bool listens = rendezvous.rank() < peer;
    const bool connects = peer >= 0 && !listens;
    TcpOptions options;
    UniqueFd listener;
    UniqueFd fd;
    const std::vector<std::string> addresses = agree(rendezvous, [&]() -> std::string {
      options = parse_tcp_options(asked, interface_);
      if (peer < 0) return {};
      UniqueFd own = socket_with(options);
      if (!listens) return {};
      listener = std::move(own);
      bind_and_listen(listener.get(), address_);
      return SocketAddress::local_of(listener.get()).text();
    });
    Call call;
    agree(rendezvous, [&]() -> std::string {
      if (!connects) return {};
      call = call_to(addresses[static_cast<std::size_t>(peer)], options);
      fd = dial(call, kConnectLimitNs);
      return {};
    });
    agree(rendezvous, [&]() -> std::string {
      if (connects) fd = enter(call, std::move(fd), kConnectLimitNs);
      if (!listens) return {};
      fd = accept_from(listener.get());
      // Inherited from the listener, and only root may bind a socket to a device a second time.
      options.interface.clear();
      apply_tcp_options(fd.get(), options);
      return {};
    });
    if (peer < 0) return nullptr;
    return std::make_unique<TcpEndpoint>(std::move(fd));
  }

 private:
  static SocketAddress data_address(const Settings& settings) {
    SocketAddress address;
    if (!settings.data_address.empty()) {
      address = SocketAddress::parse(settings.data_address);
    } else if (!settings.interface.empty()) {
      address = SocketAddress::of_interface(settings.interface);
    } else if (settings.rendezvous == "threads") {
      address = SocketAddress::parse("127.0.0.1");
    } else {
      throw UsageError("the tcp transport needs --data-address or --interface");
    }
    address.set_tcp_port(0);
    return address;
  }

  UniqueFd socket_with(const TcpOptions& options) const {
    UniqueFd fd = make_socket(address_.family());
    apply_tcp_options(fd.get(), options);
    return fd;
  }

  // From the own data address, so that the bytes leave where they were asked to.
  Call call_to(const std::string& address, const TcpOptions& options) const {
    const auto make_bound_socket = [this, options] {
      UniqueFd fd = socket_with(options);
      if (::bind(fd.get(), address_.get(), address_.length) != 0) {
        throw system_failure("bind to " + address_.text());
      }
      return fd;
    };
    return {make_bound_socket, SocketAddress::parse(address), token_, kPurpose};
  }

  UniqueFd accept_from(int listener) {
    TokenGate gate(listener, token_);
    Greeted greeted = gate.next(kConnectLimitNs);
    gate.close();
    rejected_connection_count_ += gate.rejected_connection_count();
    return std::move(greeted.fd);
  }

  std::string token_;
  std::string interface_;
  SocketAddress address_;
  std::int64_t rejected_connection_count_ = 0;
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(transport_registry, "tcp", [](const fabriscope::Settings& settings) {
  return std::make_unique<fabriscope::TcpTransport>(settings);
})
