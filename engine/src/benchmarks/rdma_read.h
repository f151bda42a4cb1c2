// RDMA reads, one or a window of them, until rank 0 has them all: rank 1 does nothing.
#pragma once

#include <cstring>

#include "rdma.h"

namespace fabriscope {

class RdmaRead : public Rdma {
 public:
  explicit RdmaRead(bool has_window) : has_window_(has_window) {}

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    if (context.rank > context.peer) {
      timer.run([] {});
      return;
    }
    RemoteMemory& remote = aimed(context);
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = has_window_ ? context.window_size : 1;
    unsigned char* in = context.send_buffer;
    timer.run([&remote, in, size_bytes, window_size] {
      for (std::size_t i = 1; i < window_size; ++i) remote.read(in, size_bytes, 0, false);
      remote.read(in, size_bytes, 0, /*told=*/true);
      remote.flush();
    });
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    Endpoint& endpoint = *context.endpoint;
    RemoteMemory& remote = aimed(context);
    const std::size_t size_bytes = context.message_size_bytes;
    const bool first = context.rank < context.peer;
    for (const bool reads : {first, !first}) {
      if (reads) {
        std::memset(context.send_buffer, 0, size_bytes);
        hear(endpoint);
        remote.read(context.send_buffer, size_bytes, 0, /*told=*/true);
        remote.flush();
        check.compare(context.send_buffer, size_bytes);
        tell(endpoint);
      } else {
        check.fill(context.receive_buffer, size_bytes);
        tell(endpoint);
        hear(endpoint);
      }
    }
  }

 private:
  bool has_window_;
};

}  // namespace fabriscope
