// One message there and one of the same size back: an operation is a round trip.
#include "fabriscope/benchmark.h"

namespace fabriscope {
namespace {

class PingPong : public Benchmark {
 public:
  void run(const BenchmarkContext& context, BurstTimer& timer) const override {
    Endpoint& endpoint = context.endpoint;
    const std::size_t size_bytes = context.message_size_bytes;
    // What came back is what is sent again, as NetPIPE does it: a second buffer of the same size
    // would only add the time in which it evicts the first from the cache.
    unsigned char* ball = context.receive_buffer;
    if (context.rank == 0) {
      timer.run([&endpoint, size_bytes, ball] {
        endpoint.send(ball, size_bytes);
        endpoint.recv(ball, size_bytes);
      });
    } else {
      timer.run([&endpoint, size_bytes, ball] {
        endpoint.recv(ball, size_bytes);
        endpoint.send(ball, size_bytes);
      });
    }
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) const override {
    if (context.rank == 0) check.send(context.message_size_bytes);
    check.recv(context.message_size_bytes);
    if (context.rank != 0) check.send(context.message_size_bytes);
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "ping_pong",
                    [] { return std::make_unique<fabriscope::PingPong>(); })
