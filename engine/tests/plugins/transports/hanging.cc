// Delivers a few messages and then none: a fabric that hangs without an error.
#include <unistd.h>

#include "faulty.h"

namespace fabriscope::test {
namespace {

class HangingEndpoint : public WrappedEndpoint {
 public:
  HangingEndpoint(std::unique_ptr<Endpoint> inner, int rank)
      : WrappedEndpoint(std::move(inner)), rank_(rank) {}

  void recv(void* data, std::size_t size_bytes) override {
    while (rank_ == 0 && received_ >= kDelivered) ::pause();
    ++received_;
    WrappedEndpoint::recv(data, size_bytes);
  }

  void wait_all() override {
    while (rank_ == 0 && waited_ >= kWaited) ::pause();
    ++waited_;
    WrappedEndpoint::wait_all();
  }

 private:
  // The check of the payload, the probe of two round trips, and one more.
  static constexpr int kDelivered = 4;
  // A stream's first messages.
  static constexpr int kWaited = 64;

  int rank_;
  int received_ = 0;
  int waited_ = 0;
};

}  // namespace
}  // namespace fabriscope::test

FABRISCOPE_REGISTER(transport_registry, "hanging", [](const fabriscope::Settings& settings) {
  return std::make_unique<fabriscope::test::FaultyTransport<fabriscope::test::HangingEndpoint>>(
      settings);
})
