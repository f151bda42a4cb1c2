// Reads the target's memory.
#pragma once

#include "operation.h"

#ifdef FABRISCOPE_WITH_MPI

namespace fabriscope {

inline constexpr Operation kGet{"get",
                                [](const Transfer& transfer) {
                                  MPI_Get(transfer.result, transfer.count, transfer.type,
                                          transfer.target, transfer.displacement, transfer.count,
                                          transfer.type, transfer.window);
                                },
                                /*writes=*/false,
                                /*fetches=*/true,
                                /*has_reduction=*/false,
                                /*compares=*/false,
                                /*is_of_one_element=*/false,
                                /*datatype=*/nullptr};

}  // namespace fabriscope

#endif
