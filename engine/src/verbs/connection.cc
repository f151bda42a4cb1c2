#include "connection.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <vector>

#include "fabriscope/error.h"
#include "manager.h"

namespace fabriscope {

// What the other rank needs to know to connect by hand.
struct HandAddress {
  unsigned queue_pair = 0;
  int psn = 0;
  unsigned lid = 0;
  int path_mtu_bytes = 0;
  std::size_t longest_message_bytes = 0;
  int reads_at_once = 0;
  std::array<unsigned, 16> gid{};

  std::string text() const {
    std::ostringstream out;
    out << queue_pair << ' ' << psn << ' ' << lid << ' ' << path_mtu_bytes << ' '
        << longest_message_bytes << ' ' << reads_at_once;
    for (const unsigned byte : gid) out << ' ' << byte;
    return out.str();
  }
  static HandAddress parse(const std::string& text) {
    std::istringstream in(text);
    HandAddress address;
    in >> address.queue_pair >> address.psn >> address.lid >> address.path_mtu_bytes >>
        address.longest_message_bytes >> address.reads_at_once;
    for (unsigned& byte : address.gid) in >> byte;
    if (!in) throw CaseError("the peer's RDMA address cannot be read: '" + text + "'");
    return address;
  }
};

namespace {

constexpr int kMostReadsAtOnce = 16;
constexpr int kRetries = 7;
constexpr int kRnrRetriesForEver = 7;
constexpr int kAckTimeout = 14;    // 67 ms
constexpr int kRnrTimerCode = 12;  // 0.64 ms
constexpr int kHopLimit = 64;
constexpr int kLeastMtuBytes = 256;  // enum ibv_mtu counts from it, in powers of two

int mtu_bytes(ibv_mtu code) { return kLeastMtuBytes << (static_cast<int>(code) - IBV_MTU_256); }

ibv_mtu mtu_code(int bytes) {
  int code = IBV_MTU_256;
  while (mtu_bytes(static_cast<ibv_mtu>(code)) < bytes) ++code;
  return static_cast<ibv_mtu>(code);
}

std::string random_hex() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw system_failure("draw a random number");
  }
  std::string text;
  for (const unsigned char byte : bytes) {
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x", byte);
    text += digits.data();
  }
  return text;
}

// The verbs calls return what others leave in errno.
[[noreturn]] void fail(int error, const std::string& attempted) {
  errno = error;
  throw system_failure(attempted);
}

template <typename Thing>
Held<Thing> held(Thing* thing, int (*give_back)(Thing*), const std::string& what,
                 const std::string& device) {
  if (thing == nullptr) throw system_failure("make a " + what + " on " + device);
  return {thing, give_back};
}

}  // namespace

Connection::Connection(const VerbsOptions& options, const PortChoice& port)
    : library_(VerbsLibrary::get()),
      options_(options),
      port_(port),
      context_(nullptr, library_.close_device),
      pd_(nullptr, library_.dealloc_pd),
      channel_(nullptr, library_.destroy_channel),
      cq_(nullptr, library_.destroy_cq) {}

Connection::~Connection() {
  if (managed_) {
    managed_->destroy_queue_pair();
  } else if (qp_ != nullptr) {
    library_.destroy_qp(qp_);
  }
  cq_.reset();
  channel_.reset();
  pd_.reset();
}

void Connection::make_resources(ibv_context* context, const CreateQueuePair& create) {
  const std::string& device = port_.device;
  ibv_device_attr limits{};
  if (const int error = library_.query_device(context, &limits)) {
    fail(error, "ask " + device + " for its limits");
  }
  reads_at_once_ = std::min({limits.max_qp_rd_atom, limits.max_qp_init_rd_atom, kMostReadsAtOnce});
  has_atomics_ = limits.atomic_cap != IBV_ATOMIC_NONE && !port_.is_iwarp;
  // libibverbs knows the old, shorter form of the structure by this name, and fills in that much.
  ibv_port_attr port{};
  if (const int error = library_.query_port(context, static_cast<std::uint8_t>(port_.hca_port),
                                            reinterpret_cast<_compat_ibv_port_attr*>(&port))) {
    fail(error, "look at port " + std::to_string(port_.hca_port) + " of " + device);
  }
  longest_message_bytes_ = port.max_msg_sz;
  if (port.active_mtu != 0) path_mtu_bytes_ = mtu_bytes(port.active_mtu);
  if (options_.path_mtu_bytes) {
    if (*options_.path_mtu_bytes > path_mtu_bytes_) {
      throw CaseError("path_mtu_bytes is " + std::to_string(*options_.path_mtu_bytes) + ", and " +
                      device + " has " + std::to_string(path_mtu_bytes_) +
                      ": take less, or raise the interface's MTU");
    }
    path_mtu_bytes_ = *options_.path_mtu_bytes;
  }
  pd_ = held(library_.alloc_pd(context), library_.dealloc_pd, "protection domain", device);
  channel_ = held(library_.create_channel(context), library_.destroy_channel, "completion channel",
                  device);
  cq_ = held(library_.create_cq(context, 2 * options_.queue_depth, nullptr, channel_.get(), 0),
             library_.destroy_cq, "completion queue", device);
  // Devices say what they grant only by refusing what they do not.
  for (int inline_bytes = options_.inline_limit; qp_ == nullptr; inline_bytes /= 2) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = cq_.get();
    attributes.recv_cq = cq_.get();
    attributes.qp_type = IBV_QPT_RC;
    attributes.cap.max_send_wr = static_cast<unsigned>(options_.queue_depth);
    attributes.cap.max_recv_wr = static_cast<unsigned>(options_.queue_depth);
    attributes.cap.max_send_sge = 1;
    attributes.cap.max_recv_sge = 1;
    attributes.cap.max_inline_data = static_cast<unsigned>(inline_bytes);
    qp_ = create(attributes);
    if (qp_ == nullptr && inline_bytes == 0) {
      throw system_failure("make a queue pair with queue_depth " +
                           std::to_string(options_.queue_depth) + " on " + device);
    }
    inline_bytes_ = std::min(static_cast<std::size_t>(attributes.cap.max_inline_data),
                             static_cast<std::size_t>(options_.inline_limit));
  }
}

void Connection::modify(ibv_qp_attr& attributes, int mask, const std::string& attempted) {
  if (const int error = library_.modify_qp(qp_, &attributes, mask)) {
    fail(error, attempted + " (" + port_.device + ", port " + std::to_string(port_.hca_port) +
                    ", GID " + std::to_string(port_.gid_index) + ")");
  }
}

std::string Connection::open_by_hand() {
  int count = 0;
  const std::unique_ptr<ibv_device*, void (*)(ibv_device**)> list(library_.get_device_list(&count),
                                                                  library_.free_device_list);
  for (int i = 0; list && i < count; ++i) {
    if (port_.device != library_.get_device_name(list.get()[i])) continue;
    context_.reset(library_.open_device(list.get()[i]));
  }
  if (!context_) throw system_failure("open the RDMA device " + port_.device);
  make_resources(context_.get(), [this](ibv_qp_init_attr& attributes) {
    return library_.create_qp(pd_.get(), &attributes);
  });
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.port_num = static_cast<std::uint8_t>(port_.hca_port);
  attributes.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                               IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  modify(attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
         "set up a queue pair");
  ibv_port_attr port{};
  library_.query_port(context_.get(), static_cast<std::uint8_t>(port_.hca_port),
                      reinterpret_cast<_compat_ibv_port_attr*>(&port));
  ibv_gid gid{};
  if (library_.query_gid(context_.get(), static_cast<std::uint8_t>(port_.hca_port), port_.gid_index,
                         &gid) != 0) {
    throw system_failure("read GID " + std::to_string(port_.gid_index) + " of " + port_.device);
  }
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) {
    throw system_failure("draw a random number");
  }
  HandAddress own{qp_->qp_num,
                  static_cast<int>(random & 0xffffffU),
                  port.lid,
                  path_mtu_bytes_,
                  longest_message_bytes_,
                  reads_at_once_,
                  {}};
  std::copy(std::begin(gid.raw), std::end(gid.raw), own.gid.begin());
  return own.text();
}

void Connection::make_ready_to_receive(const HandAddress& peer) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = mtu_code(path_mtu_bytes_);
  attributes.dest_qp_num = peer.queue_pair;
  attributes.rq_psn = static_cast<unsigned>(peer.psn);
  attributes.max_dest_rd_atomic = static_cast<std::uint8_t>(reads_at_once_);
  attributes.min_rnr_timer = kRnrTimerCode;
  attributes.ah_attr.dlid = static_cast<std::uint16_t>(peer.lid);
  attributes.ah_attr.sl = static_cast<std::uint8_t>(options_.service_level);
  attributes.ah_attr.port_num = static_cast<std::uint8_t>(port_.hca_port);
  if (!port_.is_infiniband || options_.gid_index) {
    attributes.ah_attr.is_global = 1;
    attributes.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(port_.gid_index);
    attributes.ah_attr.grh.hop_limit = kHopLimit;
    attributes.ah_attr.grh.traffic_class = static_cast<std::uint8_t>(options_.traffic_class);
    for (std::size_t i = 0; i < peer.gid.size(); ++i) {
      attributes.ah_attr.grh.dgid.raw[i] = static_cast<std::uint8_t>(peer.gid[i]);
    }
  }
  modify(attributes,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
         "make a queue pair ready to receive from the peer");
}

void Connection::make_ready_to_send(int psn) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = static_cast<std::uint8_t>(options_.ack_timeout.value_or(kAckTimeout));
  attributes.retry_cnt = kRetries;
  attributes.rnr_retry = kRnrRetriesForEver;
  attributes.sq_psn = static_cast<unsigned>(psn);
  attributes.max_rd_atomic = static_cast<std::uint8_t>(reads_at_once_);
  modify(attributes,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC,
         "make a queue pair ready to send");
}

void Connection::connect_by_hand(const std::string& peer_text, const std::string& own_text) {
  const HandAddress peer = HandAddress::parse(peer_text);
  const HandAddress own = HandAddress::parse(own_text);
  path_mtu_bytes_ = std::min(path_mtu_bytes_, peer.path_mtu_bytes);
  longest_message_bytes_ = std::min(longest_message_bytes_, peer.longest_message_bytes);
  reads_at_once_ = std::min(reads_at_once_, peer.reads_at_once);
  make_ready_to_receive(peer);
  make_ready_to_send(own.psn);
}

// The secret, and where a rank listens.
std::string Connection::open_by_manager(const std::string& data_address, bool accepts) {
  if (data_address.empty()) {
    throw CaseError("the RDMA connection manager needs --data-address");
  }
  managed_ = make_managed_id();
  return accepts ? random_hex() + ' ' + managed_->listen(data_address) : std::string();
}

void Connection::connect_by_manager(const std::string& own_address, const std::string& acceptor,
                                    bool accepts) {
  std::istringstream in(acceptor);
  std::string secret;
  std::string address;
  in >> secret >> address;
  const auto prepare = [this] {
    make_resources(managed_->context(), [this](ibv_qp_init_attr& attributes) {
      return managed_->create_queue_pair(pd_.get(), attributes);
    });
    reads_at_once_ = std::min(reads_at_once_, ManagedId::kReadsAtOnce);
  };
  if (accepts) {
    managed_->accept(secret, prepare);
  } else {
    managed_->connect(own_address, address, secret, prepare);
  }
}

Fields Connection::fields() const {
  Fields fields{{"device", port_.device},
                {"hca_port", static_cast<std::int64_t>(port_.hca_port)},
                {"connection", std::string(managed_ ? "manager" : "exchange")},
                {"queue_depth", static_cast<std::int64_t>(options_.queue_depth)},
                {"signal_every", static_cast<std::int64_t>(options_.signal_every)},
                {"inline_bytes", static_cast<std::int64_t>(inline_bytes_)},
                {"completion", std::string(options_.by_event ? "event" : "polling")},
                {"reads_at_once", static_cast<std::int64_t>(reads_at_once_)}};
  if (managed_) return fields;
  ibv_qp_attr attributes{};
  ibv_qp_init_attr unused{};
  if (const int error = library_.query_qp(qp_, &attributes, IBV_QP_TIMEOUT, &unused)) {
    fail(error, "ask for the queue pair's timeout");
  }
  fields.emplace_back("ack_timeout", static_cast<std::int64_t>(attributes.timeout));
  fields.emplace_back("path_mtu_bytes", static_cast<std::int64_t>(path_mtu_bytes_));
  fields.emplace_back("service_level", static_cast<std::int64_t>(options_.service_level));
  fields.emplace_back("traffic_class", static_cast<std::int64_t>(options_.traffic_class));
  fields.emplace_back("gid_index", static_cast<std::int64_t>(port_.gid_index));
  fields.emplace_back("gid_type", port_.gid_type);
  fields.emplace_back("gid_reason", port_.reason);
  return fields;
}

std::unique_ptr<Connection> connect_verbs(Rendezvous& rendezvous, int peer,
                                          const VerbsOptions& options, const VerbsPlace& place) {
  // The one that connects must be the first to speak (iWARP), and rank 0 mostly is.
  const bool accepts = rendezvous.rank() > peer;
  std::unique_ptr<Connection> connection;
  bool managed = false;
  const auto words = agree(rendezvous, [&]() -> std::string {
    if (peer < 0) return {};
    const PortChoice port = choose_port(VerbsLibrary::get(), options, place.interface);
    managed = port.is_iwarp || options.by_manager;
    if (managed && options.ack_timeout) {
      throw CaseError("ack_timeout cannot be set where the connection manager connects");
    }
    connection = std::make_unique<Connection>(options, port);
    return managed ? "manager " + connection->open_by_manager(place.data_address, accepts)
                   : "hand " + connection->open_by_hand();
  });
  agree(rendezvous, [&]() -> std::string {
    if (peer < 0) return {};
    const std::string& own = words[static_cast<std::size_t>(rendezvous.rank())];
    const std::string& other = words[static_cast<std::size_t>(peer)];
    if (own[0] != other[0]) {
      throw CaseError("one end is iWARP and the other one is not: they cannot be connected");
    }
    const auto tail = [](const std::string& text) { return text.substr(text.find(' ') + 1); };
    if (managed) {
      connection->connect_by_manager(place.data_address, tail(accepts ? own : other), accepts);
    } else {
      connection->connect_by_hand(tail(other), tail(own));
    }
    return {};
  });
  return connection;
}

}  // namespace fabriscope

#endif
