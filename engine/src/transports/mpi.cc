// Whatever fabric the MPI library chooses.
#include "fabriscope/transport.h"

#ifdef FABRISCOPE_WITH_MPI

#include <mpi.h>

#include <array>
#include <vector>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr int kTag = 0;

// MPI's default error handler ends the job with its own message, so no result is looked at here.
class MpiEndpoint : public Endpoint {
 public:
  explicit MpiEndpoint(int peer) : peer_(peer) { MPI_Comm_dup(MPI_COMM_WORLD, &communicator_); }
  ~MpiEndpoint() override { MPI_Comm_free(&communicator_); }
  MpiEndpoint(const MpiEndpoint&) = delete;
  MpiEndpoint& operator=(const MpiEndpoint&) = delete;

  void send(const void* data, std::size_t size_bytes) override {
    MPI_Send(data, static_cast<int>(size_bytes), MPI_BYTE, peer_, kTag, communicator_);
  }
  void recv(void* data, std::size_t size_bytes) override {
    MPI_Recv(data, static_cast<int>(size_bytes), MPI_BYTE, peer_, kTag, communicator_,
             MPI_STATUS_IGNORE);
  }
  void reserve(std::size_t request_count) override { requests_.reserve(2 * request_count); }
  void post_send(const void* data, std::size_t size_bytes) override {
    MPI_Isend(data, static_cast<int>(size_bytes), MPI_BYTE, peer_, kTag, communicator_,
              &requests_.emplace_back());
  }
  void post_recv(void* data, std::size_t size_bytes) override {
    MPI_Irecv(data, static_cast<int>(size_bytes), MPI_BYTE, peer_, kTag, communicator_,
              &requests_.emplace_back());
  }
  void wait_all() override {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
  }
  bool test_all() override {
    int done = 0;
    MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) requests_.clear();
    return done != 0;
  }

 private:
  int peer_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
};

class MpiTransport : public Transport {
 public:
  explicit MpiTransport(const Settings& settings) {
    if (settings.rendezvous != "mpi") {
      throw UsageError("the mpi transport needs --rendezvous mpi and an MPI launcher");
    }
  }

  TransportCapabilities capabilities() const override { return {true, 0, true}; }

  std::optional<std::string> library_version() const override {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    return std::string(text.data(), static_cast<std::size_t>(length));
  }

  std::unique_ptr<Endpoint> open(Rendezvous&, int peer, const OptionSet& options) override {
    refuse_options("mpi", options);
    return std::make_unique<MpiEndpoint>(peer);
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(transport_registry, "mpi", [](const fabriscope::Settings& settings) {
  return std::make_unique<fabriscope::MpiTransport>(settings);
})

#else

FABRISCOPE_REGISTER(
    transport_registry, "mpi", [](const fabriscope::Settings&) { return nullptr; },
    "this program was built without MPI")

#endif
