// Every rank receives its share of all ranks' vectors, reduced to one. The message is the whole
// vector, as in OSU's benchmark; in Intel's it is a rank's share.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class ReduceScatter : public Collective {
 public:
  explicit ReduceScatter(bool is_nonblocking) : Collective(kReduces, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Reduce_scatter, root); }
  void start(int root, MPI_Request* request) override {
    invoke(MPI_Ireduce_scatter, root, request);
  }
  template <typename Function, typename... Request>
  void invoke(Function* function, int, Request*... request) {
    function(send(), receive(), counts(), type(), op(), communicator(), request...);
  }
  Places places_of(int) const override {
    return Places::split(rank_count(), static_cast<std::size_t>(count()));
  }
  std::vector<Piece> pieces(int) const override {
    return {{Piece::kEveryRank, displacement_of(rank()), 0, count_of(rank())}};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("reduce_scatter", ReduceScatter)
