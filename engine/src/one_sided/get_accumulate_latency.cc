// Likewise, and brings back what stood there.
#include "one_way.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

constexpr Operation kGetAccumulate{
    "get_accumulate",
    [](const Transfer& transfer) {
      MPI_Get_accumulate(transfer.source, transfer.count, transfer.type, transfer.result,
                         transfer.count, transfer.type, transfer.target, transfer.displacement,
                         transfer.count, transfer.type, transfer.op, transfer.window);
    },
    /*writes=*/true,
    /*fetches=*/true,
    /*has_reduction=*/true,
    /*compares=*/false,
    /*is_of_one_element=*/false,
    /*datatype=*/"float"};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_ONE_SIDED("get_accumulate_latency", OneWay, kGetAccumulate,
                              OneWay::Unit::kMessage)
