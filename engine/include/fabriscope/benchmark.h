// What one operation is: the pattern of messages that is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fabriscope/buffers.h"
#include "fabriscope/burst_timer.h"
#include "fabriscope/fields.h"
#include "fabriscope/payload.h"
#include "fabriscope/registry.h"
#include "fabriscope/rendezvous.h"
#include "fabriscope/transport.h"

namespace fabriscope {

enum class Pattern {
  kPair,    // ranks 0 and 1 over an endpoint; ranks beyond them wait
  kPairs,   // every rank and its partner over an endpoint, all pairs at once
  kStar,    // rank 0 and every other rank, over an endpoint each; `receivers=n`: ranks 0 to n - 1
  kBeside,  // ranks 0 and 1, and beside them rank 2 with each of those above it, and with rank 0
  kGroup,   // all ranks at once, through the library's own operations and without an endpoint
};

// What of a case belongs to its benchmark and not to the transport.
using Parameters = std::map<std::string, std::string>;

struct BenchmarkContext {
  Endpoint* endpoint;  // to `peer`; null for kGroup
  // Of kStar, at rank 0: to ranks 1, 2 ... (at each receiver: to its senders); of kBeside, there:
  // to 1 and 2, at rank 2: to 0, 3, 4
  // ...
  const std::vector<Endpoint*>& endpoints;
  int rank;
  int rank_count;
  int peer;  // -1 for kGroup; of kStar, at rank 0: 1
  std::size_t message_size_bytes;
  std::size_t window_size;
  // Page-aligned, of buffer_bytes() and receive_buffer_bytes() at least, shared by all cases: what
  // an earlier case left is still in them. Every message of a window uses the same one, as in OSU's
  // tests, so that the window measures the fabric and not the memory of the host.
  unsigned char* send_buffer;
  unsigned char* receive_buffer;
  // Where the next message comes from and goes to, for benchmarks that leave it to the case.
  Rotation outgoing;
  Rotation incoming;
  const Parameters& parameters;
  Rendezvous& rendezvous;  // for set-up and checks, never inside an operation
};

// The value of a parameter, or `otherwise` where the case does not give it.
inline std::string parameter_or(const Parameters& parameters, const std::string& name,
                                const std::string& otherwise) {
  const auto found = parameters.find(name);
  return found == parameters.end() ? otherwise : found->second;
}

// What a benchmark gives in place of the time of an operation.
struct OwnMetric {
  // Ends in its unit: `matrix_product_flop_per_s`, `key_lookup_op_per_s`, `half_step_ns`.
  std::string id;
  // Of a rate: how much of what it counts one operation is. Of a time: how many of them it lasts.
  std::int64_t amount_per_operation = 1;
};

class Benchmark {
 public:
  virtual ~Benchmark() = default;

  virtual Pattern pattern() const { return Pattern::kPair; }
  // Names of the case's keys that are this benchmark's parameters; all others are options of the
  // transport. The engine itself adds `timing` for kGroup, `pairing` for kPairs, and `buffers`.
  virtual std::vector<std::string> parameter_names() const { return {}; }
  // How its operations can be timed; the first is the one where the case asks for none.
  virtual std::vector<Timing> timing_kinds() const;

  // From which memory its messages can come; the first is the one where the case asks for none.
  // Nothing for a benchmark that does not use the context's `outgoing` and `incoming`.
  virtual std::vector<BufferUse> buffer_uses() const { return {}; }

  // Requests of one direction that are open at once.
  virtual std::size_t request_count(std::size_t /*window_size*/) const { return 0; }
  virtual bool moves_payload() const { return true; }
  // Whether it goes by what messages say: then it cannot run where none arrives.
  virtual bool reads_payload() const { return false; }
  // An operation lasts for a time of its own choosing: each is a burst by itself, with an instant
  // that is chosen once all ranks are ready.
  virtual bool fills_a_burst() const { return false; }
  // A burst of fewer operations than fill this time is not worth what comes with it.
  virtual std::int64_t least_burst_ns() const { return 0; }
  // What one operation of run() moves between the two ranks of a pair; nothing where the benchmark
  // cannot tell (a library decides who sends what to whom).
  virtual std::optional<PairTraffic> operation_traffic(std::size_t /*message_size_bytes*/,
                                                       std::size_t /*window_size*/) const {
    return std::nullopt;
  }
  // Where it cannot tell before, but counts: asked at rank 0 after each burst, by its endpoints.
  virtual bool counts_its_traffic() const { return false; }
  virtual std::vector<PairTraffic> counted_traffic() const { return {}; }
  // For benchmarks that src/fabriscope/model/benchmarks.py does not know, which are times
  // otherwise.
  virtual std::optional<OwnMetric> metric(std::size_t /*message_size_bytes*/,
                                          std::size_t /*window_size*/) const {
    return std::nullopt;
  }
  // What each of the two buffers has to hold.
  virtual std::size_t buffer_bytes(std::size_t message_size_bytes, int /*rank_count*/) const {
    return message_size_bytes;
  }
  // What this rank's buffer for receiving has to hold, where that is not what the other one does:
  // `peer_count` is how many ranks it has endpoints to.
  virtual std::size_t receive_buffer_bytes(std::size_t message_size_bytes, int rank_count,
                                           std::size_t /*peer_count*/) const {
    return buffer_bytes(message_size_bytes, rank_count);
  }

  // Set-up outside of the clock, at every rank at once, before anything else of this case. Throws
  // CaseError if this case cannot be run.
  virtual void prepare(const BenchmarkContext& /*context*/) {}

  // Every rank runs the same number of operations; which ranks record them is the timer's business.
  virtual void run(const BenchmarkContext& context, BurstTimer& timer) = 0;
  // kPair, kPairs, kStar and kBeside: moves checked payload both ways over the calls that run()
  // times. kStar: over one endpoint, at rank 0 over one after the other.
  virtual void verify(const BenchmarkContext& /*context*/, PayloadCheck& /*check*/) {}
  // kGroup: moves data that depends on the seed over the calls that run() times. What is wrong at
  // this rank, or nothing.
  virtual std::optional<std::string> verify_group(const BenchmarkContext& /*context*/,
                                                  std::uint64_t /*seed*/) {
    return std::nullopt;
  }
  // What a block that several ranks recorded says beside its samples: asked at rank 0 after each
  // burst.
  virtual Fields details() const { return {}; }
  // kStar: of an operation of the last burst, how much had come over each endpoint of rank 0 when;
  // details() says in which intervals. The last number of each is what came after them.
  virtual std::vector<std::vector<std::int64_t>> arrived_bytes(std::size_t /*operation*/) const {
    return {};
  }
};

using BenchmarkRegistry = Registry<Benchmark>;
BenchmarkRegistry& benchmark_registry();

}  // namespace fabriscope
