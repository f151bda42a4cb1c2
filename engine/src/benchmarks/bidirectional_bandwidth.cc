// A window of messages each way at once. An operation ends at rank 0 when its own messages are
// out, the other's are in, and 4 bytes have said that the other is done, too.
#include "expect_window.h"
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

  std::vector<BufferUse> buffer_uses() const override {
    return {BufferUse::kSeparate, BufferUse::kRotating};
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    Endpoint& endpoint = *context.endpoint;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    Rotation out = context.outgoing;
    Rotation in = context.incoming;
    unsigned char* window = in.next(window_size);
    unsigned char answer[kAnswerBytes] = {};
    const auto receive = [&endpoint, &window, &in, size_bytes, window_size] {
      for (std::size_t i = 0; i < window_size; ++i) {
        endpoint.post_recv(window + i * in.stride(), size_bytes);
      }
    };
    const auto exchange = [&endpoint, &out, size_bytes, window_size] {
      const unsigned char* sent = out.next(window_size);
      for (std::size_t i = 0; i < window_size; ++i) {
        endpoint.post_send(sent + i * out.stride(), size_bytes);
      }
      endpoint.wait_all();
    };
    if (context.rank == 0) {
      timer.run([&receive, &exchange, &endpoint, &answer, &window, &in, window_size] {
        receive();
        endpoint.expect(answer, kAnswerBytes, 1);
        exchange();
        endpoint.recv(answer, kAnswerBytes);
        window = in.next(window_size);
      });
    } else {
      // The next window, before the answer to this one brings it.
      std::int64_t left = timer.operation_count();
      timer.run(
          [&receive, &exchange, &endpoint, &answer, &left, &window, &in, size_bytes, window_size] {
            receive();
            exchange();
            window = in.next(window_size);
            if (--left > 0) expect_window(endpoint, window, in.stride(), size_bytes, window_size);
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
