// A window of RDMA writes, until the device says that all have reached the peer: ib_write_bw's
// definition, window by window.
#include "rdma_write.h"

namespace fabriscope {
namespace {

class WriteBandwidth : public RdmaWrite {
 public:
  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    if (context.rank > context.peer) {
      timer.run([] {});
      return;
    }
    RemoteMemory& remote = aimed(context);
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    const unsigned char* out = context.send_buffer;
    timer.run([&remote, out, size_bytes, window_size] {
      for (std::size_t i = 1; i < window_size; ++i) remote.write(out, size_bytes, 0, false);
      remote.write(out, size_bytes, 0, /*told=*/true);
      remote.flush();
    });
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "write_bandwidth",
                    [] { return std::make_unique<fabriscope::WriteBandwidth>(); })
