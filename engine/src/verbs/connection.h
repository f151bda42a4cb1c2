// A reliable connected queue pair between two ranks, made over the rendezvous.
#pragma once

#include "library.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "device.h"
#include "fabriscope/fields.h"
#include "fabriscope/rendezvous.h"
#include "options.h"

namespace fabriscope {

class ManagedId;  // manager.h
struct HandAddress;

// Where this rank is to be reached.
struct VerbsPlace {
  std::string interface;
  std::string data_address;
};

// The queue pair and what it needs, given back in the right order.
class Connection {
 public:
  Connection(const VerbsOptions& options, const PortChoice& port);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const VerbsLibrary& library() const { return library_; }
  const VerbsOptions& options() const { return options_; }
  const PortChoice& port() const { return port_; }
  ibv_pd* pd() const { return pd_.get(); }
  ibv_cq* cq() const { return cq_.get(); }
  ibv_qp* qp() const { return qp_; }
  ibv_comp_channel* channel() const { return channel_.get(); }
  std::size_t inline_bytes() const { return inline_bytes_; }
  std::size_t longest_message_bytes() const { return longest_message_bytes_; }
  bool has_atomics() const { return has_atomics_; }
  Fields fields() const;

  // The two ways to connect: each rank says where it is and goes where the other one is.
  std::string open_by_hand();
  void connect_by_hand(const std::string& peer, const std::string& own);
  // `accepts`: this rank waits for the other one, as the one that connects speaks first.
  std::string open_by_manager(const std::string& data_address, bool accepts);
  void connect_by_manager(const std::string& own_address, const std::string& acceptor,
                          bool accepts);

 private:
  using CreateQueuePair = std::function<ibv_qp*(ibv_qp_init_attr&)>;

  void make_resources(ibv_context* context, const CreateQueuePair& create);
  void modify(ibv_qp_attr& attributes, int mask, const std::string& attempted);
  void make_ready_to_receive(const HandAddress& peer);
  void make_ready_to_send(int psn);

  const VerbsLibrary& library_;
  VerbsOptions options_;
  PortChoice port_;
  Held<ibv_context> context_;  // null where the connection manager has opened the device
  Held<ibv_pd> pd_;
  Held<ibv_comp_channel> channel_;
  Held<ibv_cq> cq_;
  std::unique_ptr<ManagedId> managed_;
  ibv_qp* qp_ = nullptr;
  std::size_t inline_bytes_ = 0;
  int path_mtu_bytes_ = 0;  // 0: the connection manager's business
  std::size_t longest_message_bytes_ = 0;
  int reads_at_once_ = 0;  // and atomics, under way
  bool has_atomics_ = false;
};

// Called by all ranks at once; a rank without a peer gets null. Throws CaseError at all ranks.
std::unique_ptr<Connection> connect_verbs(Rendezvous& rendezvous, int peer,
                                          const VerbsOptions& options, const VerbsPlace& place);

}  // namespace fabriscope

#endif
