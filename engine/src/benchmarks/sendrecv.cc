// A periodic chain, as IMB defines Sendrecv: every rank sends to its right neighbour and receives
// from its left one, by one call.
#ifdef FABRISCOPE_WITH_MPI

#include "mpi_chain.h"

namespace fabriscope {
namespace {

class Sendrecv : public MpiChain {
 public:
  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    const int count = static_cast<int>(context.message_size_bytes);
    Rotation outgoing = context.outgoing;
    Rotation incoming = context.incoming;
    timer.run([this, count, &outgoing, &incoming] {
      const unsigned char* out = outgoing.next();
      unsigned char* in = incoming.next();
      shift(count, out, in);
    });
  }

  std::optional<std::string> verify_group(const BenchmarkContext& context,
                                          std::uint64_t seed) override {
    const std::size_t size_bytes = context.message_size_bytes;
    const PayloadPattern pattern(seed);
    const Bytes out = filled(pattern, size_bytes, context.rank, kToRight);
    Bytes in(size_bytes);
    shift(static_cast<int>(size_bytes), out.data(), in.data());
    return pattern.mismatch(in.data(), size_bytes, left_, kToRight);
  }

 private:
  void shift(int count, const unsigned char* out, unsigned char* in) const {
    MPI_Sendrecv(out, count, MPI_BYTE, right_, kTag, in, count, MPI_BYTE, left_, kTag,
                 communicator_, MPI_STATUS_IGNORE);
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "sendrecv",
                    [] { return std::make_unique<fabriscope::Sendrecv>(); })

#else

#include "fabriscope/benchmark.h"

FABRISCOPE_REGISTER(
    benchmark_registry, "sendrecv", [] { return nullptr; }, "this program was built without MPI")

#endif
