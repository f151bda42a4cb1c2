// Access to the memory of other ranks, and what orders it. Whom a call concerns is not told: asking
// a window for its ranks would take longer than the call.
#include "wrap.h"

namespace fabriscope::profile {
namespace {

void moved(Call call, const Span& span, std::uint64_t bytes, int target) {
  const std::uint64_t sent = target == MPI_PROC_NULL ? 0 : bytes;
  count(call, sent, sent, target == MPI_PROC_NULL ? kNobody : kAnybody, span.ticks());
}

void ordered(Call call, const Span& span) { count(call, 0, 0, kAnybody, span.ticks()); }

}  // namespace
}  // namespace fabriscope::profile

using namespace fabriscope::profile;  // NOLINT(google-build-using-namespace): what follows is MPI's
                                      // own names

FABRISCOPE_MPI_TWICE(MPI_Put, MPI_Rput,
                     (const void* data, int n, MPI_Datatype type, int target, MPI_Aint at, int m,
                      MPI_Datatype its, MPI_Win window),
                     (data, n, type, target, at, m, its, window),
                     moved(call, span, bytes_of(n, type), target))
FABRISCOPE_MPI_TWICE(MPI_Get, MPI_Rget,
                     (void* data, int n, MPI_Datatype type, int target, MPI_Aint at, int m,
                      MPI_Datatype its, MPI_Win window),
                     (data, n, type, target, at, m, its, window),
                     moved(call, span, bytes_of(n, type), target))
FABRISCOPE_MPI_TWICE(MPI_Accumulate, MPI_Raccumulate,
                     (const void* data, int n, MPI_Datatype type, int target, MPI_Aint at, int m,
                      MPI_Datatype its, MPI_Op op, MPI_Win window),
                     (data, n, type, target, at, m, its, op, window),
                     moved(call, span, bytes_of(n, type), target))
FABRISCOPE_MPI_TWICE(MPI_Get_accumulate, MPI_Rget_accumulate,
                     (const void* data, int n, MPI_Datatype type, void* result, int k,
                      MPI_Datatype result_type, int target, MPI_Aint at, int m, MPI_Datatype its,
                      MPI_Op op, MPI_Win window),
                     (data, n, type, result, k, result_type, target, at, m, its, op, window),
                     moved(call, span, bytes_of(k, result_type), target))
FABRISCOPE_MPI(MPI_Fetch_and_op,
               (const void* data, void* result, MPI_Datatype type, int target, MPI_Aint at,
                MPI_Op op, MPI_Win window),
               (data, result, type, target, at, op, window),
               moved(call, span, bytes_of(1, type), target))
FABRISCOPE_MPI(MPI_Compare_and_swap,
               (const void* data, const void* compared, void* result, MPI_Datatype type, int target,
                MPI_Aint at, MPI_Win window),
               (data, compared, result, type, target, at, window),
               moved(call, span, bytes_of(1, type), target))

FABRISCOPE_MPI(MPI_Win_fence, (int assertion, MPI_Win window), (assertion, window),
               ordered(call, span))
FABRISCOPE_MPI(MPI_Win_lock, (int kind, int rank, int assertion, MPI_Win window),
               (kind, rank, assertion, window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_unlock, (int rank, MPI_Win window), (rank, window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_lock_all, (int assertion, MPI_Win window), (assertion, window),
               ordered(call, span))
FABRISCOPE_MPI(MPI_Win_unlock_all, (MPI_Win window), (window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_flush, (int rank, MPI_Win window), (rank, window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_flush_all, (MPI_Win window), (window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_flush_local, (int rank, MPI_Win window), (rank, window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_post, (MPI_Group group, int assertion, MPI_Win window),
               (group, assertion, window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_start, (MPI_Group group, int assertion, MPI_Win window),
               (group, assertion, window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_complete, (MPI_Win window), (window), ordered(call, span))
FABRISCOPE_MPI(MPI_Win_wait, (MPI_Win window), (window), ordered(call, span))
