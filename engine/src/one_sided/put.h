// Writes to the target's memory.
#pragma once

#include "operation.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {

inline constexpr Operation kPut{"put",
                                [](const Transfer& transfer) {
                                  MPI_Put(transfer.source, transfer.count, transfer.type,
                                          transfer.target, transfer.displacement, transfer.count,
                                          transfer.type, transfer.window);
                                },
                                /*writes=*/true,
                                /*fetches=*/false,
                                /*has_reduction=*/false,
                                /*compares=*/false,
                                /*is_of_one_element=*/false,
                                /*datatype=*/nullptr};

}  // namespace fabriscope

#endif
