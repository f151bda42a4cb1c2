// Writes one element where the target's memory holds what is expected, and brings back what stood
// there.
#include "one_way.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

constexpr Operation kCompareAndSwap{
    "compare_and_swap",
    [](const Transfer& transfer) {
      MPI_Compare_and_swap(transfer.source, transfer.comparison, transfer.result, transfer.type,
                           transfer.target, transfer.displacement, transfer.window);
    },
    /*writes=*/true,
    /*fetches=*/true,
    /*has_reduction=*/false,
    /*compares=*/true,
    /*is_of_one_element=*/true,
    /*datatype=*/"int64"};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_ONE_SIDED("compare_and_swap_latency", OneWay, kCompareAndSwap,
                              OneWay::Unit::kMessage)
