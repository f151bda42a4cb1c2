// One message there and one of the same size back: an operation is a round trip.
#pragma once

#include "fabriscope/benchmark.h"

namespace fabriscope {

class PingPong : public Benchmark {
 public:
  std::optional<PairTraffic> operation_traffic(std::size_t message_size_bytes,
                                               std::size_t /*window_size*/) const override {
    const Traffic ball{static_cast<std::int64_t>(message_size_bytes), 1};
    return PairTraffic{ball, ball};
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    Endpoint& endpoint = *context.endpoint;
    const bool first = context.rank < context.peer;
    const std::size_t size_bytes = context.message_size_bytes;
    // What came back is what is sent again, as NetPIPE does it: a second buffer of the same size
    // would only add the time in which it evicts the first from the cache.
    unsigned char* ball = context.receive_buffer;
    if (first) {
      timer.run([&endpoint, size_bytes, ball] {
        endpoint.expect(ball, size_bytes, 1);
        endpoint.send(ball, size_bytes);
        endpoint.recv(ball, size_bytes);
      });
    } else {
      // The next ball, before the answer to this one brings it.
      std::int64_t left = timer.operation_count();
      endpoint.expect(ball, size_bytes, 1);
      timer.run([&endpoint, size_bytes, ball, &left] {
        endpoint.recv(ball, size_bytes);
        if (--left > 0) endpoint.expect(ball, size_bytes, 1);
        endpoint.send(ball, size_bytes);
      });
    }
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    const bool first = context.rank < context.peer;
    if (first) check.send(context.message_size_bytes);
    check.recv(context.message_size_bytes);
    if (!first) check.send(context.message_size_bytes);
  }
};

}  // namespace fabriscope
