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

  std::vector<BufferUse> buffer_uses() const override {
    return {BufferUse::kSame, BufferUse::kSeparate, BufferUse::kRotating};
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    Endpoint& endpoint = *context.endpoint;
    const bool first = context.rank < context.peer;
    const std::size_t size_bytes = context.message_size_bytes;
    Rotation out = context.outgoing;
    Rotation in = context.incoming;
    if (first) {
      timer.run([&endpoint, &out, &in, size_bytes] {
        unsigned char* place = in.next();
        endpoint.expect(place, size_bytes, 1);
        endpoint.send(out.next(), size_bytes);
        endpoint.recv(place, size_bytes);
      });
    } else {
      // The next ball, before the answer to this one brings it.
      std::int64_t left = timer.operation_count();
      unsigned char* place = in.next();
      endpoint.expect(place, size_bytes, 1);
      timer.run([&endpoint, &out, &in, &place, &left, size_bytes] {
        endpoint.recv(place, size_bytes);
        if (--left > 0) {
          place = in.next();
          endpoint.expect(place, size_bytes, 1);
        }
        endpoint.send(out.next(), size_bytes);
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
