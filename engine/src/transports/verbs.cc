// RDMA through libibverbs: reliable connections over InfiniBand, RoCE, iWARP and their software
// forms (rdma_rxe, siw).
#include "../loaded_library.h"
#include "../verbs/endpoint.h"

#ifdef FABRISCOPE_WITH_VERBS

#include <utility>

#include "../net/socket.h"

namespace fabriscope {
namespace {

class VerbsTransport : public Transport {
 public:
  explicit VerbsTransport(const Settings& settings)
      : place_{settings.interface, settings.data_address} {
    own_.device = settings.rdma_device;
    if (settings.hca_port >= 0) own_.hca_port = settings.hca_port;
    if (settings.gid_index >= 0) own_.gid_index = settings.gid_index;
  }

  std::unique_ptr<Endpoint> open(Rendezvous& rendezvous, int peer,
                                 const OptionSet& asked) override {
    VerbsOptions options;
    agree(rendezvous, [&]() -> std::string {
      options = parse_verbs_options(asked, own_);
      return {};
    });
    std::unique_ptr<Connection> connection = connect_verbs(rendezvous, peer, options, place_);
    std::unique_ptr<VerbsEndpoint> endpoint;
    const auto places = agree(rendezvous, [&]() -> std::string {
      if (peer < 0) return {};
      endpoint = std::make_unique<VerbsEndpoint>(std::move(connection));
      return endpoint->counter_place();
    });
    agree(rendezvous, [&]() -> std::string {
      if (peer < 0) return {};
      endpoint->learn_counter_place(places[static_cast<std::size_t>(peer)]);
      // By the one that connected; the other one's words would come too early.
      if (rendezvous.rank() < peer) endpoint->greet();
      return {};
    });
    return endpoint;
  }

 private:
  VerbsPlace place_;
  VerbsOptions own_;
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(
    transport_registry, "verbs",
    [](const fabriscope::Settings& settings) {
      return std::make_unique<fabriscope::VerbsTransport>(settings);
    },
    "", fabriscope::why_missing<fabriscope::VerbsLibrary>)

#else

#include "fabriscope/transport.h"

FABRISCOPE_REGISTER(
    transport_registry, "verbs", [](const fabriscope::Settings&) { return nullptr; },
    "this program was built without it (FABRISCOPE_VERBS=OFF): build it again with that ON")

#endif
