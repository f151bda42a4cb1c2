// Scatter, with a count and a place for each rank's message.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Scatterv : public Collective {
 public:
  explicit Scatterv(bool is_nonblocking)
      : Collective(kHasRoot | kSendsToEach | kHasPlaces, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Scatterv, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Iscatterv, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int root, Request*... request) {
    function(send(), counts(), displacements(), type(), receive(), counts()[rank()], type(), root,
             communicator(), request...);
  }
  std::vector<Piece> pieces(int root) const override {
    return {{root, displacement_of(rank()), 0, count_of(rank())}};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("scatterv", Scatterv)
