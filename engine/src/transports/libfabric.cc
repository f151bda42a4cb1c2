// Reliable datagrams through libfabric, by whichever of its providers a case names: tcp, shm,
// verbs, efa, cxi, opx ...
#include "../libfabric/endpoint.h"
#include "../loaded_library.h"

#ifdef FABRISCOPE_WITH_LIBFABRIC

#include <netdb.h>
#include <sys/random.h>

#include <array>

#include "../net/socket.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// As many bits as the tags of every provider have.
constexpr std::uint64_t kTagMask = (1ULL << 40U) - 1;

std::uint64_t random_tag() {
  std::uint64_t tag = 0;
  if (getrandom(&tag, sizeof tag, 0) != static_cast<ssize_t>(sizeof tag)) {
    throw system_failure("draw a random tag");
  }
  return tag & kTagMask;
}

std::string ip_of(const SocketAddress& address) {
  std::array<char, NI_MAXHOST> text{};
  ::getnameinfo(address.get(), address.length, text.data(), text.size(), nullptr, 0,
                NI_NUMERICHOST);
  return text.data();
}

class LibfabricTransport : public Transport {
 public:
  explicit LibfabricTransport(const Settings& settings) : address_(settings.data_address) {
    if (address_.empty() && !settings.interface.empty()) {
      address_ = ip_of(SocketAddress::of_interface(settings.interface));
    }
    if (address_.empty() && settings.rendezvous == "threads") address_ = "127.0.0.1";
  }

  // None where there is no libfabric: then every case says so.
  std::optional<std::string> library_version() const override {
    try {
      return LibfabricLibrary::get().version_text();
    } catch (const CaseError&) {
      return std::nullopt;
    }
  }

  std::unique_ptr<Endpoint> open(Rendezvous& rendezvous, int peer,
                                 const OptionSet& asked) override {
    const bool leads = rendezvous.rank() < peer;
    std::unique_ptr<LibfabricEndpoint> endpoint;
    std::uint64_t tag = 0;
    const auto words = agree(rendezvous, [&]() -> std::string {
      const LibfabricOptions options = parse_libfabric_options(asked);
      if (peer < 0) return {};
      endpoint = std::make_unique<LibfabricEndpoint>(options, address_);
      tag = random_tag();
      return std::to_string(tag) + " " + endpoint->address();
    });
    agree(rendezvous, [&]() -> std::string {
      if (peer < 0) return {};
      const std::string& peers = words[static_cast<std::size_t>(peer)];
      const std::size_t gap = peers.find(' ');
      endpoint->aim(peers.substr(gap + 1), leads ? tag : std::stoull(peers.substr(0, gap)));
      return {};
    });
    agree(rendezvous, [&]() -> std::string {
      if (peer >= 0) endpoint->greet(leads);
      return {};
    });
    return endpoint;
  }

 private:
  std::string address_;
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(
    transport_registry, "libfabric",
    [](const fabriscope::Settings& settings) {
      return std::make_unique<fabriscope::LibfabricTransport>(settings);
    },
    "", fabriscope::why_missing<fabriscope::LibfabricLibrary>)

#else

#include "fabriscope/transport.h"

FABRISCOPE_REGISTER(
    transport_registry, "libfabric", [](const fabriscope::Settings&) { return nullptr; },
    "this program was built without it (FABRISCOPE_LIBFABRIC=OFF): build it again with that ON")

#endif
