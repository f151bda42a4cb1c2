// A window of messages one way, answered by 4 bytes when all have arrived: osu_bw's definition.
#pragma once

#include "expect_window.h"
#include "fabriscope/benchmark.h"

namespace fabriscope {

class Bandwidth : public Benchmark {
 public:
  std::size_t request_count(std::size_t window_size) const override { return window_size; }

  std::optional<PairTraffic> operation_traffic(std::size_t message_size_bytes,
                                               std::size_t window_size) const override {
    const auto count = static_cast<std::int64_t>(window_size);
    return PairTraffic{{static_cast<std::int64_t>(message_size_bytes) * count, count},
                       {kAnswerBytes, 1}};
  }

  std::vector<BufferUse> buffer_uses() const override {
    return {BufferUse::kSeparate, BufferUse::kRotating};
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    Endpoint& endpoint = *context.endpoint;
    const bool first = context.rank < context.peer;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    Rotation places = first ? context.outgoing : context.incoming;
    const std::size_t stride = places.stride();
    unsigned char answer[kAnswerBytes] = {};
    if (first) {
      timer.run([&endpoint, &places, size_bytes, window_size, stride, &answer] {
        endpoint.expect(answer, kAnswerBytes, 1);
        const unsigned char* window = places.next(window_size);
        for (std::size_t i = 0; i < window_size; ++i) {
          endpoint.post_send(window + i * stride, size_bytes);
        }
        endpoint.wait_all();
        endpoint.recv(answer, kAnswerBytes);
      });
    } else {
      // The next window, before the answer to this one brings it.
      std::int64_t left = timer.operation_count();
      unsigned char* window = places.next(window_size);
      expect_window(endpoint, window, stride, size_bytes, window_size);
      timer.run([&endpoint, &places, &window, size_bytes, window_size, stride, &answer, &left] {
        for (std::size_t i = 0; i < window_size; ++i) {
          endpoint.post_recv(window + i * stride, size_bytes);
        }
        endpoint.wait_all();
        if (--left > 0) {
          window = places.next(window_size);
          expect_window(endpoint, window, stride, size_bytes, window_size);
        }
        endpoint.send(answer, kAnswerBytes);
      });
    }
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    const bool first = context.rank < context.peer;
    check.window(context.message_size_bytes, context.window_size, first, !first);
    check.window(context.message_size_bytes, context.window_size, !first, first);
  }

 private:
  static constexpr std::size_t kAnswerBytes = 4;
};

}  // namespace fabriscope
