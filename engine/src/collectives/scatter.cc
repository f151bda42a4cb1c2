// Every rank receives a message of its own from the root.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Scatter : public Collective {
 public:
  explicit Scatter(bool is_nonblocking) : Collective(kHasRoot | kSendsToEach, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Scatter, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Iscatter, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int root, Request*... request) {
    function(send(), count(), type(), receive(), count(), type(), root, communicator(), request...);
  }
  std::vector<Piece> pieces(int root) const override {
    return {{root, displacement_of(rank()), 0, count_of(rank())}};
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("scatter", Scatter)
