// Alltoall, with a count and a place for each message.
#include "collective.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

class Alltoallv : public Collective {
 public:
  explicit Alltoallv(bool is_nonblocking)
      : Collective(kSendsToEach | kReceivesFromEach | kHasPlaces, is_nonblocking) {}

 private:
  void call(int root) override { invoke(MPI_Alltoallv, root); }
  void start(int root, MPI_Request* request) override { invoke(MPI_Ialltoallv, root, request); }
  template <typename Function, typename... Request>
  void invoke(Function* function, int, Request*... request) {
    function(send(), counts(), displacements(), type(), receive(), counts(), displacements(),
             type(), communicator(), request...);
  }
  Places places_of(int check) const override {
    const auto elements = static_cast<std::size_t>(count());
    return check % 2 == 0 ? Places::even(rank_count(), elements)
                          : Places::uneven(rank_count(), elements, rank());
  }
  std::vector<Piece> pieces(int) const override {
    return one_from_each_rank(displacement_of(rank()));
  }
};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_COLLECTIVE("alltoallv", Alltoallv)
