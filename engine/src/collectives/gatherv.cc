// Gather, with a count and a place for each rank's message.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Gatherv : public Collective {
 public:
  explicit Gatherv(bool is_nonblocking)
      : Collective(kHasRoot | kReceivesFromEach | kHasPlaces, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Gatherv, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Igatherv, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int root, Request*... request) {
    function(send(), counts()[rank()], type(), receive(), counts(), displacements(), type(), root,
             communicator(), request...);
  }
  std::vector<Piece> pieces(int root) const override {
    return rank() == root ? one_from_each_rank(0) : std::vector<Piece>{};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("gatherv", Gatherv)
