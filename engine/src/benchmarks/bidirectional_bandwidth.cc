// A window of messages each way at once. An operation ends at rank 0 when its own messages are
// out, the other's are in, and 4 bytes have said that the other is done, too.
#include "fabriscope/benchmark.h"

namespace fabriscope {
namespace {

constexpr std::size_t kAnswerBytes = 4;

class BidirectionalBandwidth : public Benchmark {
 public:
  std::size_t request_count(std::size_t window_size) const override { return window_size; }

  std::optional<PairTraffic> operation_traffic(std::size_t message_size_bytes,
                                               std::size_t window_size) const override {
    const auto count = static_cast<std::int64_t>(window_size);
    const Traffic window{static_cast<std::int64_t>(message_size_bytes) * count, count};
    Traffic back = window;
    back += {kAnswerBytes, 1};
    return PairTraffic{window, back};
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    Endpoint& endpoint = *context.endpoint;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    const unsigned char* out = context.send_buffer;
    unsigned char* in = context.receive_buffer;
    unsigned char answer[kAnswerBytes] = {};
    const auto receive = [&endpoint, size_bytes, window_size, in] {
      for (std::size_t i = 0; i < window_size; ++i) endpoint.post_recv(in, size_bytes);
    };
    const auto exchange = [&endpoint, size_bytes, window_size, out] {
      for (std::size_t i = 0; i < window_size; ++i) endpoint.post_send(out, size_bytes);
      endpoint.wait_all();
    };
    if (context.rank == 0) {
      timer.run([&receive, &exchange, &endpoint, &answer] {
        receive();
        endpoint.expect(answer, kAnswerBytes, 1);
        exchange();
        endpoint.recv(answer, kAnswerBytes);
      });
    } else {
      // The next window, before the answer to this one brings it.
      std::int64_t left = timer.operation_count();
      timer.run([&receive, &exchange, &endpoint, &answer, &left, in, size_bytes, window_size] {
        receive();
        exchange();
        if (--left > 0) endpoint.expect(in, size_bytes, window_size);
        endpoint.send(answer, kAnswerBytes);
      });
    }
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    check.window(context.message_size_bytes, context.window_size, true, true);
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "bidirectional_bandwidth",
                    [] { return std::make_unique<fabriscope::BidirectionalBandwidth>(); })
