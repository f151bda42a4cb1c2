// One to many: rank 0 sends a window of messages to every other rank at once, and each answers when
// its own has arrived. What a striped write of a file system does to the one link that all share.
#include "await_all.h"
#include "expect_window.h"
#include "fabriscope/benchmark.h"

namespace fabriscope {
namespace {

class OneToMany : public Benchmark {
 public:
  Pattern pattern() const override { return Pattern::kStar; }
  std::size_t request_count(std::size_t window_size) const override { return window_size + 1; }

  std::optional<PairTraffic> operation_traffic(std::size_t message_size_bytes,
                                               std::size_t window_size) const override {
    const auto count = static_cast<std::int64_t>(window_size);
    return PairTraffic{{static_cast<std::int64_t>(message_size_bytes) * count, count},
                       {kReceiptBytes, 1}};
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    if (context.rank < context.peer) {
      send(context, timer);
    } else {
      receive(context, timer);
    }
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    const bool sends = context.rank < context.peer;
    check.window(context.message_size_bytes, context.window_size, sends, !sends);
    check.window(context.message_size_bytes, context.window_size, !sends, sends);
  }

 private:
  static constexpr std::size_t kReceiptBytes = 4;

  static void send(const BenchmarkContext& context, BurstTimer& timer) {
    const std::vector<Endpoint*>& receivers = context.endpoints;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    const unsigned char* out = context.send_buffer;
    unsigned char receipt[kReceiptBytes] = {};
    AwaitAll receipts(receivers);
    timer.run([&receivers, &receipts, &receipt, size_bytes, window_size, out] {
      for (Endpoint* receiver : receivers) {
        receiver->post_recv(receipt, kReceiptBytes);
        for (std::size_t i = 0; i < window_size; ++i) receiver->post_send(out, size_bytes);
      }
      receipts.wait();
    });
  }

  static void receive(const BenchmarkContext& context, BurstTimer& timer) {
    Endpoint& endpoint = *context.endpoint;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    unsigned char* in = context.receive_buffer;
    const unsigned char receipt[kReceiptBytes] = {};
    // The next window, before the answer to this one brings it.
    std::int64_t left = timer.operation_count();
    expect_window(endpoint, in, 0, size_bytes, window_size);
    timer.run([&endpoint, &receipt, &left, size_bytes, window_size, in] {
      for (std::size_t i = 0; i < window_size; ++i) endpoint.post_recv(in, size_bytes);
      endpoint.wait_all();
      if (--left > 0) expect_window(endpoint, in, 0, size_bytes, window_size);
      endpoint.send(receipt, kReceiptBytes);
    });
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "one_to_many",
                    [] { return std::make_unique<fabriscope::OneToMany>(); })
