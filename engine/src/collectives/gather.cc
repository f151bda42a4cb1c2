// The root receives a message of every rank.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Gather : public Collective {
 public:
  explicit Gather(bool is_nonblocking) : Collective(kHasRoot | kReceivesFromEach, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Gather, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Igather, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int root, Request*... request) {
    function(send(), count(), type(), receive(), count(), type(), root, communicator(), request...);
  }
  std::vector<Piece> pieces(int root) const override {
    return rank() == root ? one_from_each_rank(0) : std::vector<Piece>{};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("gather", Gather)
