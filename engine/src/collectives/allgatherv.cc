// Allgather, with a count and a place for each rank's message.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Allgatherv : public Collective {
 public:
  explicit Allgatherv(bool is_nonblocking)
      : Collective(kReceivesFromEach | kHasPlaces, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Allgatherv, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Iallgatherv, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int, Request*... request) {
    function(send(), counts()[rank()], type(), receive(), counts(), displacements(), type(),
             communicator(), request...);
  }
  std::vector<Piece> pieces(int) const override { return one_from_each_rank(0); }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("allgatherv", Allgatherv)
