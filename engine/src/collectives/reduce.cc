// The root receives all ranks' vectors, reduced to one.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Reduce : public Collective {
 public:
  explicit Reduce(bool is_nonblocking) : Collective(kHasRoot | kReduces, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Reduce, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Ireduce, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int root, Request*... request) {
    function(send(), receive(), count(), type(), op(), root, communicator(), request...);
  }
  std::vector<Piece> pieces(int root) const override {
    if (rank() != root) return {};
    return {{Piece::kEveryRank, 0, 0, count_of(rank())}};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("reduce", Reduce)
