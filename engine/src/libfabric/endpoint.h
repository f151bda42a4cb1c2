// A reliable datagram endpoint of libfabric that speaks to one peer, by tagged messages.
#pragma once

#include "library.h"

#ifdef FABRISCOPE_WITH_LIBFABRIC

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fabriscope/fields.h"
#include "fabriscope/transport.h"
#include "options.h"

namespace fabriscope {

struct CloseFabricObject {
  template <typename Object>
  void operator()(Object* object) const {
    fi_close(&object->fid);
  }
};
template <typename Object>
using FabricObject = std::unique_ptr<Object, CloseFabricObject>;

class LibfabricEndpoint : public Endpoint {
 public:
  // `data_address`: where providers that are reached by IP listen; others have addresses of their
  // own. Throws CaseError.
  LibfabricEndpoint(const LibfabricOptions& options, const std::string& data_address);

  // Set-up, after the constructor: this rank's address in words, the peer's, and a first message
  // each way, as connections are made by it. Messages that do not have the tag are not received: a
  // stranger does not know it. Throws CaseError.
  std::string address() const;
  void aim(const std::string& peers_address, std::uint64_t tag);
  void greet(bool speaks_first);

  void send(const void* data, std::size_t size_bytes) override;
  void recv(void* data, std::size_t size_bytes) override;
  void reserve(std::size_t request_count) override;
  void post_send(const void* data, std::size_t size_bytes) override;
  void post_recv(void* data, std::size_t size_bytes) override;
  void wait_all() override;
  bool test_all() override;
  void use_memory(void* data, std::size_t size_bytes) override;
  void release_memory(void* data) override;
  std::size_t maximum_message_bytes() const override { return info_->ep_attr->max_msg_size; }
  Fields effective_options() const override;

 private:
  // The provider may use the context until the request is complete.
  struct Request {
    fi_context2 context;  // first: completions point to it
    void* data;
    std::size_t size_bytes;
    void* descriptor;     // of registered memory
    unsigned char* slot;  // registered, where the message itself is if its own memory is not
    bool is_in_slot;
    bool receives;
  };
  // Requests of one direction, in their order. They are counted from when all before were done.
  struct Queue {
    std::vector<Request> requests;
    std::size_t asked = 0;   // of these
    std::size_t posted = 0;  // of those, handed to the provider
    std::size_t done = 0;    // of those
    bool is_done() const { return done == asked; }
  };
  struct Region {
    std::uintptr_t begin;
    std::uintptr_t end;
    FabricObject<fid_mr> memory;
    int uses;
  };
  using Info = std::unique_ptr<fi_info, decltype(&::fi_freeinfo)>;

  Info find(const LibfabricOptions& options, const std::string& data_address) const;
  void open();
  void grow(std::size_t request_count);
  FabricObject<fid_mr> registered(void* data, std::size_t size_bytes);
  const Region* region_of(const void* data, std::size_t size_bytes) const;
  void require(int status, const std::string& attempted) const;

  void ask(Queue& queue, void* data, std::size_t size_bytes);
  void find_descriptor(Request& request);
  void pump();
  bool post(Request& request);
  bool progress();
  void complete(const fi_cq_msg_entry& entry);
  template <typename Condition>
  void wait_until(Condition condition);
  [[noreturn]] void fail_completion() const;
  [[noreturn]] void fail(const std::string& what, int error) const;

  const LibfabricLibrary& library_;
  Info info_;
  bool registers_;
  std::uint64_t tag_ = 0;
  std::uint64_t next_key_ = 0;  // of registered memory, where the provider does not choose it
  fi_addr_t peer_ = FI_ADDR_UNSPEC;
  Queue sends_;
  Queue receives_;
  std::vector<unsigned char> slots_;  // for short messages of memory that nobody has announced
  // In this order: each needs those before it.
  FabricObject<fid_fabric> fabric_;
  FabricObject<fid_domain> domain_;
  FabricObject<fid_av> addresses_;
  FabricObject<fid_cq> completions_;
  FabricObject<fid_ep> endpoint_;
  std::vector<Region> regions_;
};

}  // namespace fabriscope

#endif
