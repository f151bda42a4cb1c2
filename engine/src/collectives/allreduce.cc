// Every rank receives all ranks' vectors, reduced to one.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Allreduce : public Collective {
 public:
  explicit Allreduce(bool is_nonblocking) : Collective(kReduces, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Allreduce, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Iallreduce, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int, Request*... request) {
    function(send(), receive(), count(), type(), op(), communicator(), request...);
  }
  std::vector<Piece> pieces(int) const override {
    return {{Piece::kEveryRank, 0, 0, count_of(rank())}};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("allreduce", Allreduce)
