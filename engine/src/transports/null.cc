// Goes nowhere and returns at once: what is measured over it is the instrument itself.
#include "fabriscope/transport.h"

namespace fabriscope {
namespace {

class NullEndpoint : public Endpoint {
 public:
  void send(const void*, std::size_t) override {}
  void recv(void*, std::size_t) override {}
  void reserve(std::size_t) override {}
  void post_send(const void*, std::size_t) override {}
  void post_recv(void*, std::size_t) override {}
  void wait_all() override {}
};

class NullTransport : public Transport {
 public:
  TransportCapabilities capabilities() const override { return {false, 0}; }

  std::unique_ptr<Endpoint> open(Rendezvous&, int, const OptionSet& options) override {
    refuse_options("null", options);
    return std::make_unique<NullEndpoint>();
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(transport_registry, "null", [](const fabriscope::Settings&) {
  return std::make_unique<fabriscope::NullTransport>();
})
