// Ranks in a ring, each with a neighbour on either side: what sendrecv and exchange have in common.
// To be included where there is MPI.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "../collectives/group.h"
#include "fabriscope/benchmark.h"

namespace fabriscope {

class MpiChain : public Benchmark {
 public:
  Pattern pattern() const override { return Pattern::kGroup; }
  std::vector<BufferUse> buffer_uses() const override {
    return {BufferUse::kSeparate, BufferUse::kRotating};
  }

  void prepare(const BenchmarkContext& context) override {
    group_ = Group::join();
    communicator_ = group_->communicator();
    left_ = (context.rank + context.rank_count - 1) % context.rank_count;
    right_ = (context.rank + 1) % context.rank_count;
  }

 protected:
  static constexpr int kTag = 0;
  // The place of a message in what PayloadPattern calls a window.
  static constexpr std::size_t kToRight = 0;
  static constexpr std::size_t kToLeft = 1;

  using Bytes = std::vector<unsigned char>;
  static Bytes filled(const PayloadPattern& pattern, std::size_t size_bytes, int rank,
                      std::size_t message) {
    Bytes bytes(size_bytes);
    pattern.fill(bytes.data(), size_bytes, rank, message);
    return bytes;
  }

  std::shared_ptr<Group> group_;
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int left_ = 0;
  int right_ = 0;
};

}  // namespace fabriscope
