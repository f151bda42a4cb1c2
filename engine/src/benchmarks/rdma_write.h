// The check that RDMA writes share.
#pragma once

#include <cstring>

#include "rdma.h"

namespace fabriscope {

class RdmaWrite : public Rdma {
 public:
  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    Endpoint& endpoint = *context.endpoint;
    RemoteMemory& remote = aimed(context);
    const std::size_t size_bytes = context.message_size_bytes;
    const bool first = context.rank < context.peer;
    for (const bool writes : {first, !first}) {
      if (writes) {
        check.fill(context.send_buffer, size_bytes);
        hear(endpoint);
        remote.write(context.send_buffer, size_bytes, 0, /*told=*/true);
        remote.flush();
        tell(endpoint);
      } else {
        std::memset(context.receive_buffer, 0, size_bytes);
        tell(endpoint);
        hear(endpoint);
        check.compare(context.receive_buffer, size_bytes);
      }
    }
  }
};

}  // namespace fabriscope
