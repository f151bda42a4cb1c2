// Every rank receives a message of its own from every rank.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Alltoall : public Collective {
 public:
  explicit Alltoall(bool is_nonblocking)
      : Collective(kSendsToEach | kReceivesFromEach, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Alltoall, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Ialltoall, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int, Request*... request) {
    function(send(), count(), type(), receive(), count(), type(), communicator(), request...);
  }
  std::vector<Piece> pieces(int) const override {
    return one_from_each_rank(displacement_of(rank()));
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("alltoall", Alltoall)
