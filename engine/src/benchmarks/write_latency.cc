// A ping-pong of RDMA writes, as in ib_write_lat: each rank looks at its own memory until the
// other's message stands there, and answers.
#include <atomic>

#include "../one_sided/stamps.h"
#include "rdma_write.h"

namespace fabriscope {
namespace {

class WriteLatency : public RdmaWrite {
 public:
  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    Endpoint& endpoint = *context.endpoint;
    RemoteMemory& remote = aimed(context);
    const std::size_t size_bytes = context.message_size_bytes;
    const auto stamps = Stamps::of<std::uint8_t>(size_bytes);
    unsigned char* out = context.send_buffer;
    unsigned char* in = context.receive_buffer;
    std::int64_t number = 0;
    const auto write = [&] {
      stamps.write(out, number);
      remote.write(out, size_bytes, 0, /*told=*/false);
    };
    const auto await = [&] {
      while (!stamps.show(in, number)) remote.look();
      std::atomic_thread_fence(std::memory_order_acquire);
    };
    stamps.write(in, 0);
    if (context.rank < context.peer) {
      hear(endpoint);
      timer.run([&] {
        ++number;
        write();
        await();
      });
    } else {
      tell(endpoint);
      timer.run([&] {
        ++number;
        await();
        write();
      });
    }
  }

 protected:
  std::string refusal(const BenchmarkContext& context, const RemoteMemory&) const override {
    return context.message_size_bytes > 0
               ? std::string()
               : "a message of 0 bytes writes nothing that the far side could see";
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "write_latency",
                    [] { return std::make_unique<fabriscope::WriteLatency>(); })
