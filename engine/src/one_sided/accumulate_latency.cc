// Combines what is sent with the target's memory, element by element.
#include "one_way.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {
namespace {

constexpr Operation kAccumulate{"accumulate",
                                [](const Transfer& transfer) {
                                  MPI_Accumulate(transfer.source, transfer.count, transfer.type,
                                                 transfer.target, transfer.displacement,
                                                 transfer.count, transfer.type, transfer.op,
                                                 transfer.window);
                                },
                                /*writes=*/true,
                                /*fetches=*/false,
                                /*has_reduction=*/true,
                                /*compares=*/false,
                                /*is_of_one_element=*/false,
                                /*datatype=*/"float"};

}  // namespace
}  // namespace fabriscope

#endif

FABRISCOPE_REGISTER_ONE_SIDED("accumulate_latency", OneWay, kAccumulate, OneWay::Unit::kMessage)
