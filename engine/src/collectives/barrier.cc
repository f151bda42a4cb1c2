// Nobody goes on before everybody has come.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

#include <chrono>
#include <thread>

namespace fabriscope {
namespace {

// How long one rank keeps the others waiting when the barrier is checked.
constexpr std::chrono::milliseconds kLateness{20};
constexpr int kLeftTag = 0;

class Barrier : public Collective {
 public:
  explicit Barrier(bool is_nonblocking) : Collective(kMovesNothing, is_nonblocking) {}

  std::optional<std::string> verify_group(const BenchmarkContext&, std::uint64_t seed) override {
    const int first = static_cast<int>(seed % static_cast<std::uint64_t>(rank_count()));
    std::optional<std::string> wrong;
    for (const int late : {first, (first + 1) % rank_count()}) {
      // Every rank takes part in both checks, whatever one of them has found.
      if (left_early(late)) {
        wrong = "a rank left the barrier before rank " + std::to_string(late) + " came";
      }
    }
    return wrong;
  }

 private:
  std::vector<Piece> pieces(int) const override { return {}; }
  void call(int) override { MPI_Barrier(communicator()); }
  void start(int, MPI_Request* request) override { MPI_Ibarrier(communicator(), request); }

  // Who has left tells the late rank, which comes only after it has listened for a while. No clock
  // and no load of the machine can make a right barrier look wrong.
  bool left_early(int late) {
    int has_heard = 0;
    if (rank() == late) {
      const auto end = std::chrono::steady_clock::now() + kLateness;
      while (has_heard == 0 && std::chrono::steady_clock::now() < end) {
        MPI_Iprobe(MPI_ANY_SOURCE, kLeftTag, communicator(), &has_heard, MPI_STATUS_IGNORE);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
    perform(0);
    if (rank() != late) {
      MPI_Send(nullptr, 0, MPI_BYTE, late, kLeftTag, communicator());
      return false;
    }
    for (int others = rank_count() - 1; others > 0; --others) {
      MPI_Recv(nullptr, 0, MPI_BYTE, MPI_ANY_SOURCE, kLeftTag, communicator(), MPI_STATUS_IGNORE);
    }
    return has_heard != 0;
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("barrier", Barrier)
