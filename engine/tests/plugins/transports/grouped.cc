// shm, with the claim to operations of all ranks at once: those of the test benchmarks, which meet
// by the rendezvous.
#include "fabriscope/transport.h"

namespace fabriscope::test {
namespace {

class GroupedTransport : public Transport {
 public:
  explicit GroupedTransport(const Settings& settings)
      : inner_(transport_registry().create("shm", settings)) {}

  TransportCapabilities capabilities() const override { return {true, 0, true}; }

  std::unique_ptr<Endpoint> open(Rendezvous& rendezvous, int peer,
                                 const OptionSet& options) override {
    return inner_->open(rendezvous, peer, options);
  }

 private:
  std::unique_ptr<Transport> inner_;
};

}  // namespace
}  // namespace fabriscope::test

FABRISCOPE_REGISTER(transport_registry, "grouped", [](const fabriscope::Settings& settings) {
  return std::make_unique<fabriscope::test::GroupedTransport>(settings);
})
