#include "manager.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <fcntl.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "../interrupt.h"
#include "../net/socket.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds kLimit{10};
constexpr int kResolveMs = 5000;
constexpr int kLookMs = 100;

using Event = std::unique_ptr<rdma_cm_event, int (*)(rdma_cm_event*)>;

class RdmaCmId final : public ManagedId {
 public:
  RdmaCmId()
      : library_(RdmaCmLibrary::get()),
        channel_(library_.create_event_channel()),
        deadline_(Clock::now() + kLimit) {
    if (channel_ == nullptr) throw system_failure("reach the RDMA connection manager (rdma_cm)");
    ::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
  }
  RdmaCmId(const RdmaCmId&) = delete;
  RdmaCmId& operator=(const RdmaCmId&) = delete;
  ~RdmaCmId() override {
    if (is_connected_) library_.disconnect(id_);
    destroy_queue_pair();
    if (id_ != nullptr) library_.destroy_id(id_);
    if (listener_ != nullptr) library_.destroy_id(listener_);
    library_.destroy_event_channel(channel_);
  }

  std::string listen(const std::string& address) override {
    listener_ = create_id();
    SocketAddress own = SocketAddress::parse(address);
    own.set_tcp_port(0);
    check(library_.bind_addr(listener_, address_of(own)), "bind to " + address + " for RDMA");
    check(library_.listen(listener_, 4), "listen for RDMA at " + address);
    own.set_tcp_port(ntohs(library_.get_src_port(listener_)));
    return own.text();
  }

  void accept(const std::string& secret, const std::function<void()>& prepare) override {
    while (id_ == nullptr) {
      const Event event = await(RDMA_CM_EVENT_CONNECT_REQUEST);
      const rdma_conn_param& asked = event->param.conn;
      const auto* said = static_cast<const char*>(asked.private_data);
      if (asked.private_data_len >= secret.size() &&
          std::equal(secret.begin(), secret.end(), said)) {
        id_ = event->id;
      } else {
        library_.reject(event->id, nullptr, 0);
        library_.destroy_id(event->id);
      }
    }
    prepare();
    rdma_conn_param parameters = connection_parameters();
    check(library_.accept(id_, &parameters), "accept the RDMA connection");
    await(RDMA_CM_EVENT_ESTABLISHED);
    is_connected_ = true;
  }

  void connect(const std::string& own_address, const std::string& peer_address,
               const std::string& secret, const std::function<void()>& prepare) override {
    id_ = create_id();
    SocketAddress own = SocketAddress::parse(own_address);
    own.set_tcp_port(0);
    SocketAddress peer = SocketAddress::parse(peer_address);
    check(library_.resolve_addr(id_, address_of(own), address_of(peer), kResolveMs),
          "find the RDMA device for " + peer_address);
    await(RDMA_CM_EVENT_ADDR_RESOLVED);
    check(library_.resolve_route(id_, kResolveMs), "find the RDMA route to " + peer_address);
    await(RDMA_CM_EVENT_ROUTE_RESOLVED);
    prepare();
    rdma_conn_param parameters = connection_parameters();
    parameters.private_data = secret.data();
    parameters.private_data_len = static_cast<std::uint8_t>(secret.size());
    check(library_.connect(id_, &parameters), "connect by RDMA to " + peer_address);
    await(RDMA_CM_EVENT_ESTABLISHED);
    is_connected_ = true;
  }

  ibv_context* context() const override { return id_->verbs; }

  ibv_qp* create_queue_pair(ibv_pd* pd, ibv_qp_init_attr& attributes) override {
    if (library_.create_qp(id_, pd, &attributes) != 0) return nullptr;
    has_queue_pair_ = true;
    return id_->qp;
  }
  void destroy_queue_pair() override {
    if (has_queue_pair_) library_.destroy_qp(id_);
    has_queue_pair_ = false;
  }

 private:
  static sockaddr* address_of(SocketAddress& address) {
    return reinterpret_cast<sockaddr*>(&address.storage);
  }

  static rdma_conn_param connection_parameters() {
    rdma_conn_param parameters{};
    parameters.responder_resources = kReadsAtOnce;
    parameters.initiator_depth = kReadsAtOnce;
    parameters.retry_count = 7;
    parameters.rnr_retry_count = 7;
    return parameters;
  }

  rdma_cm_id* create_id() {
    rdma_cm_id* id = nullptr;
    check(library_.create_id(channel_, &id, nullptr, RDMA_PS_TCP), "make an RDMA connection's id");
    return id;
  }

  static void check(int result, const std::string& attempted) {
    if (result != 0) throw system_failure(attempted);
  }

  // Of that kind; any other one is how the connection failed.
  Event await(rdma_cm_event_type wanted) {
    for (;;) {
      throw_if_interrupted();
      pollfd waiting{channel_->fd, POLLIN, 0};
      if (::poll(&waiting, 1, kLookMs) > 0) break;
      if (Clock::now() > deadline_) {
        throw CaseError("the RDMA connection manager waited in vain for " +
                        std::string(library_.event_text(wanted)));
      }
    }
    rdma_cm_event* found = nullptr;
    check(library_.get_cm_event(channel_, &found), "hear from the RDMA connection manager");
    Event event(found, library_.ack_cm_event);
    if (event->event == wanted) return event;
    const std::string why =
        event->status < 0 ? std::string(": ") + std::strerror(-event->status) : std::string();
    throw CaseError("the RDMA connection manager says " +
                    std::string(library_.event_text(event->event)) + " where " +
                    library_.event_text(wanted) + " was expected" + why);
  }

  const RdmaCmLibrary& library_;
  rdma_event_channel* channel_;
  Clock::time_point deadline_;
  rdma_cm_id* listener_ = nullptr;
  rdma_cm_id* id_ = nullptr;
  bool has_queue_pair_ = false;
  bool is_connected_ = false;
};

}  // namespace

std::unique_ptr<ManagedId> make_managed_id() { return std::make_unique<RdmaCmId>(); }

}  // namespace fabriscope

#endif
