// What one operation is: the pattern of messages that is timed.
#pragma once

#include <cstddef>
#include <memory>

#include "fabriscope/burst_timer.h"
#include "fabriscope/payload.h"
#include "fabriscope/registry.h"
#include "fabriscope/transport.h"

namespace fabriscope {

struct BenchmarkContext {
  Endpoint& endpoint;
  int rank;
  std::size_t message_size_bytes;
  std::size_t window_size;
  // One message each; every message of a window uses the same one, as in OSU's tests, so that the
  // window measures the fabric and not the memory of the host.
  unsigned char* send_buffer;
  unsigned char* receive_buffer;
};

class Benchmark {
 public:
  virtual ~Benchmark() = default;

  // Requests of one direction that are open at once.
  virtual std::size_t request_count(std::size_t /*window_size*/) const { return 0; }
  virtual bool moves_payload() const { return true; }

  // Every rank runs the same number of operations; the timer records at rank 0.
  virtual void run(const BenchmarkContext& context, BurstTimer& timer) const = 0;
  // Moves checked payload both ways over the calls that run() times.
  virtual void verify(const BenchmarkContext& context, PayloadCheck& check) const = 0;
};

using BenchmarkRegistry = Registry<Benchmark>;
BenchmarkRegistry& benchmark_registry();

}  // namespace fabriscope
