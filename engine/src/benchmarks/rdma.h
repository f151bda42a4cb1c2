// What the benchmarks of RDMA operations have in common: rank 0 works on the memory of rank 1, over
// a transport that can (verbs). The memory is the receive buffer.
#pragma once

#include <string>

#include "fabriscope/benchmark.h"
#include "fabriscope/remote_memory.h"

namespace fabriscope {

class Rdma : public Benchmark {
 public:
  void prepare(const BenchmarkContext& context) override;

 protected:
  static constexpr std::size_t kLeastBytes = 8;  // one atomic's word

  // Aims at the peer's memory: before a burst and before a check.
  RemoteMemory& aimed(const BenchmarkContext& context) const;
  // Why this case cannot be run at this rank, empty where it can.
  virtual std::string refusal(const BenchmarkContext& /*context*/,
                              const RemoteMemory& /*remote*/) const {
    return {};
  }
  std::size_t buffer_bytes(std::size_t message_size_bytes, int /*rank_count*/) const override {
    return message_size_bytes < kLeastBytes ? kLeastBytes : message_size_bytes;
  }

  // One byte to the peer or from it: what was done before is done when it arrives.
  static void tell(Endpoint& endpoint);
  static void hear(Endpoint& endpoint);

 private:
  std::string peers_words_;
};

}  // namespace fabriscope
