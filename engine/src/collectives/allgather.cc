// Every rank receives a message of every rank.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Allgather : public Collective {
 public:
  explicit Allgather(bool is_nonblocking) : Collective(kReceivesFromEach, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Allgather, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Iallgather, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int, Request*... request) {
    function(send(), count(), type(), receive(), count(), type(), communicator(), request...);
  }
  std::vector<Piece> pieces(int) const override { return one_from_each_rank(0); }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("allgather", Allgather)
