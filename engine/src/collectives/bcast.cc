// The root's message goes to every rank.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Bcast : public Collective {
 public:
  explicit Bcast(bool is_nonblocking) : Collective(kHasRoot, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Bcast, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Ibcast, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int root, Request*... request) {
    function(rank() == root ? send() : receive(), count(), type(), root, communicator(),
             request...);
  }
  std::vector<Piece> pieces(int root) const override {
    if (rank() == root) return {};
    return {{root, 0, 0, count_of(rank())}};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("bcast", Bcast)
