// Likewise for one element: what counters and locks are made of.
#include "one_way.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

constexpr Operation kFetchAndOp{"fetch_and_op",
                                [](const Transfer& transfer) {
                                  MPI_Fetch_and_op(transfer.source, transfer.result, transfer.type,
                                                   transfer.target, transfer.displacement,
                                                   transfer.op, transfer.window);
                                },
                                /*writes=*/true,
                                /*fetches=*/true,
                                /*has_reduction=*/true,
                                /*compares=*/false,
                                /*is_of_one_element=*/true,
                                /*datatype=*/"int64"};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_ONE_SIDED("fetch_and_op_latency", OneWay, kFetchAndOp, OneWay::Unit::kMessage)
