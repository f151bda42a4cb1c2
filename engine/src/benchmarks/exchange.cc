// A periodic chain, as IMB defines Exchange: every rank sends to both neighbours without waiting,
// receives from both, and waits for its sends.
#ifdef FABRISCOPE_WITH_MPI

#include <array>

#include "mpi_chain.h"

namespace fabriscope {
namespace {

class Exchange : public MpiChain {
 public:
  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    const int count = static_cast<int>(context.message_size_bytes);
    Rotation outgoing = context.outgoing;
    Rotation incoming = context.incoming;
    timer.run([this, count, &outgoing, &incoming] {
      const unsigned char* out = outgoing.next();
      unsigned char* in = incoming.next();
      exchange(count, {out, out}, {in, in});
    });
  }

  std::optional<std::string> verify_group(const BenchmarkContext& context,
                                          std::uint64_t seed) override {
    const std::size_t size_bytes = context.message_size_bytes;
    const PayloadPattern pattern(seed);
    const Bytes to_right = filled(pattern, size_bytes, context.rank, kToRight);
    const Bytes to_left = filled(pattern, size_bytes, context.rank, kToLeft);
    Bytes from_left(size_bytes);
    Bytes from_right(size_bytes);
    exchange(static_cast<int>(size_bytes), {to_right.data(), to_left.data()},
             {from_left.data(), from_right.data()});
    const auto wrong = pattern.mismatch(from_left.data(), size_bytes, left_, kToRight);
    return wrong ? wrong : pattern.mismatch(from_right.data(), size_bytes, right_, kToLeft);
  }

 private:
  // Out: to the right, to the left. In: from the left, from the right.
  void exchange(int count, const std::array<const unsigned char*, 2>& out,
                const std::array<unsigned char*, 2>& in) const {
    std::array<MPI_Request, 2> requests;
    MPI_Isend(out[0], count, MPI_BYTE, right_, kTag, communicator_, requests.data());
    MPI_Isend(out[1], count, MPI_BYTE, left_, kTag, communicator_, &requests[1]);
    MPI_Recv(in[0], count, MPI_BYTE, left_, kTag, communicator_, MPI_STATUS_IGNORE);
    MPI_Recv(in[1], count, MPI_BYTE, right_, kTag, communicator_, MPI_STATUS_IGNORE);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "exchange",
                    [] { return std::make_unique<fabriscope::Exchange>(); })

#else

#include "fabriscope/benchmark.h"

FABRISCOPE_REGISTER(
    benchmark_registry, "exchange", [] { return nullptr; }, "this program was built without MPI")

#endif
