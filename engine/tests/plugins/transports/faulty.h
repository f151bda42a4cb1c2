// A transport around another one, for faults.
#pragma once

#include <memory>
#include <utility>

#include "fabriscope/transport.h"

namespace fabriscope::test {

class WrappedEndpoint : public Endpoint {
 public:
  explicit WrappedEndpoint(std::unique_ptr<Endpoint> inner) : inner_(std::move(inner)) {}
  void send(const void* data, std::size_t size_bytes) override { inner_->send(data, size_bytes); }
  void recv(void* data, std::size_t size_bytes) override { inner_->recv(data, size_bytes); }
  void reserve(std::size_t request_count) override { inner_->reserve(request_count); }
  void post_send(const void* data, std::size_t size_bytes) override {
    inner_->post_send(data, size_bytes);
  }
  void post_recv(void* data, std::size_t size_bytes) override {
    inner_->post_recv(data, size_bytes);
  }
  void wait_all() override { inner_->wait_all(); }

 private:
  std::unique_ptr<Endpoint> inner_;
};

template <typename FaultyEndpoint>
class FaultyTransport : public Transport {
 public:
  explicit FaultyTransport(const Settings& settings)
      : inner_(transport_registry().create("shm", settings)) {}
  std::unique_ptr<Endpoint> open(Rendezvous& rendezvous, int peer,
                                 const OptionSet& options) override {
    return std::make_unique<FaultyEndpoint>(inner_->open(rendezvous, peer, options),
                                            rendezvous.rank());
  }

 private:
  std::unique_ptr<Transport> inner_;
};

}  // namespace fabriscope::test
