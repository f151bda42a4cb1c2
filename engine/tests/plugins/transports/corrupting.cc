// Changes the last bit of the last message of each window that it delivers at rank 1, and of each
// single message that is longer than 100 bytes.
#include "faulty.h"

namespace fabriscope::test {
namespace {

class CorruptingEndpoint : public WrappedEndpoint {
 public:
  CorruptingEndpoint(std::unique_ptr<Endpoint> inner, int rank)
      : WrappedEndpoint(std::move(inner)), rank_(rank) {}

  void recv(void* data, std::size_t size_bytes) override {
    WrappedEndpoint::recv(data, size_bytes);
    if (size_bytes > 100) spoil(data, size_bytes);
  }
  void post_recv(void* data, std::size_t size_bytes) override {
    WrappedEndpoint::post_recv(data, size_bytes);
    last_ = data;
    last_bytes_ = size_bytes;
  }
  void wait_all() override {
    WrappedEndpoint::wait_all();
    if (last_ != nullptr) spoil(last_, last_bytes_);
    last_ = nullptr;
  }

 private:
  void spoil(void* data, std::size_t size_bytes) const {
    if (rank_ == 1) static_cast<unsigned char*>(data)[size_bytes - 1] ^= 1U;
  }

  int rank_;
  void* last_ = nullptr;
  std::size_t last_bytes_ = 0;
};

}  // namespace
}  // namespace fabriscope::test

FABRISCOPE_REGISTER(transport_registry, "corrupting", [](const fabriscope::Settings& settings) {
  return std::make_unique<fabriscope::test::FaultyTransport<fabriscope::test::CorruptingEndpoint>>(
      settings);
})
