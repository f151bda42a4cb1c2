// Messages from one rank to another.
#include "wrap.h"

namespace fabriscope::profile {
namespace {

void message(Call call, const Span& span, std::uint64_t bytes, int peer, MPI_Comm comm) {
  const std::uint64_t moved = peer == MPI_PROC_NULL ? 0 : bytes;
  count(call, moved, moved, communicator(comm).peer(peer), span.ticks());
}

// Returns the bytes that came: from where the library keeps them in a status, which saves two calls
// of it (Open MPI, then MPICH and its relatives), else as the standard says.
template <typename Status>
auto received_bytes(const Status& status, MPI_Datatype /*type*/, int /*preferred*/)
    -> decltype(static_cast<std::uint64_t>(status._ucount)) {
  return static_cast<std::uint64_t>(status._ucount);
}

template <typename Status>
auto received_bytes(const Status& status, MPI_Datatype /*type*/, int /*preferred*/)
    -> decltype(static_cast<std::uint64_t>(status.count_hi_and_cancelled + status.count_lo)) {
  const auto low = static_cast<std::uint32_t>(status.count_lo);
  const auto high = static_cast<std::uint32_t>(status.count_hi_and_cancelled) >> 1u;
  return std::uint64_t{high} << 32u | low;
}

template <typename Status>
std::uint64_t received_bytes(const Status& status, MPI_Datatype type, long /*otherwise*/) {
  static const auto count_of = found<decltype(&PMPI_Get_count)>("PMPI_Get_count");
  int items = 0;
  count_of(&status, type, &items);
  return items == MPI_UNDEFINED ? 0 : bytes_of(items, type);
}

// Counts a receive by what came; `status` is the call's own or the caller's.
void arrived(Call call, const Span& span, const MPI_Status& status, MPI_Datatype type,
             MPI_Comm comm) {
  message(call, span, received_bytes(status, type, 0), status.MPI_SOURCE, comm);
}

// Counts an exchange by what is sent, and to whom; where nothing is, by whom it is received from.
void exchange(Call call, const Span& span, std::uint64_t sent, int to, int from, MPI_Comm comm) {
  const bool sends = to != MPI_PROC_NULL;
  const bool is_shift = sends && from != MPI_PROC_NULL && from != to;
  const std::uint64_t moved = sends ? sent : 0;
  count(is_shift ? Call::kMPI_Sendrecv_shift : call, moved, moved,
        communicator(comm).peer(sends ? to : from), span.ticks());
}

void begins(Call call, const Span& span, std::uint64_t bytes, int from, MPI_Comm comm,
            MPI_Request request) {
  message(call, span, bytes, from, comm);
  remember(request, Kind::kReceive, true, communicator(comm).peer(from), bytes);
}

void prepares(Call call, const Span& span, std::uint64_t bytes, int peer, MPI_Comm comm,
              MPI_Request request, bool is_receive) {
  count(call, 0, 0, kNobody, span.ticks());
  const std::uint64_t moved = peer == MPI_PROC_NULL ? 0 : bytes;
  remember(request, Kind::kStarted, is_receive, communicator(comm).peer(peer), moved);
}

MPI_Status* seen(MPI_Status* theirs, MPI_Status& own) {
  return theirs == MPI_STATUS_IGNORE ? &own : theirs;
}

}  // namespace
}  // namespace fabriscope::profile

using namespace fabriscope::profile;  // NOLINT(google-build-using-namespace): what follows is MPI's
                                      // own names

#define FABRISCOPE_SENDS(name)                                                                 \
  FABRISCOPE_MPI(name,                                                                         \
                 (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm), \
                 (data, n, type, to, tag, comm), message(call, span, bytes_of(n, type), to, comm))
FABRISCOPE_SENDS(MPI_Send)
FABRISCOPE_SENDS(MPI_Bsend)
FABRISCOPE_SENDS(MPI_Ssend)
FABRISCOPE_SENDS(MPI_Rsend)

#define FABRISCOPE_STARTS_TO_SEND(name)                                                       \
  FABRISCOPE_MPI(name,                                                                        \
                 (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                  MPI_Request* request),                                                      \
                 (data, n, type, to, tag, comm, request),                                     \
                 message(call, span, bytes_of(n, type), to, comm))
FABRISCOPE_STARTS_TO_SEND(MPI_Isend)
FABRISCOPE_STARTS_TO_SEND(MPI_Ibsend)
FABRISCOPE_STARTS_TO_SEND(MPI_Issend)
FABRISCOPE_STARTS_TO_SEND(MPI_Irsend)

#define FABRISCOPE_PREPARES_TO_SEND(name)                                                     \
  FABRISCOPE_MPI(name,                                                                        \
                 (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                  MPI_Request* request),                                                      \
                 (data, n, type, to, tag, comm, request),                                     \
                 prepares(call, span, bytes_of(n, type), to, comm, *request, false))
FABRISCOPE_PREPARES_TO_SEND(MPI_Send_init)
FABRISCOPE_PREPARES_TO_SEND(MPI_Bsend_init)
FABRISCOPE_PREPARES_TO_SEND(MPI_Ssend_init)
FABRISCOPE_PREPARES_TO_SEND(MPI_Rsend_init)

FABRISCOPE_MPI(MPI_Recv_init,
               (void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Request* request),
               (data, n, type, from, tag, comm, request),
               prepares(call, span, bytes_of(n, type), from, comm, *request, true))

FABRISCOPE_MPI(MPI_Recv,
               (void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Status* status),
               (data, n, type, from, tag, comm, seen(status, own)),
               arrived(call, span, *seen(status, own), type, comm))

FABRISCOPE_MPI(MPI_Mrecv,
               (void* data, int n, MPI_Datatype type, MPI_Message* which, MPI_Status* status),
               (data, n, type, which, status),
               count(call, bytes_of(n, type), bytes_of(n, type), kAnybody, span.ticks()))

FABRISCOPE_MPI(MPI_Imrecv,
               (void* data, int n, MPI_Datatype type, MPI_Message* which, MPI_Request* request),
               (data, n, type, which, request),
               count(call, bytes_of(n, type), bytes_of(n, type), kAnybody, span.ticks()))

FABRISCOPE_MPI(MPI_Irecv,
               (void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                MPI_Request* request),
               (data, n, type, from, tag, comm, request),
               begins(call, span, bytes_of(n, type), from, comm, *request))

FABRISCOPE_MPI(MPI_Sendrecv,
               (const void* sent, int n, MPI_Datatype type, int to, int tag, void* received, int m,
                MPI_Datatype its, int from, int its_tag, MPI_Comm comm, MPI_Status* status),
               (sent, n, type, to, tag, received, m, its, from, its_tag, comm, status),
               exchange(call, span, bytes_of(n, type), to, from, comm))

FABRISCOPE_MPI(MPI_Sendrecv_replace,
               (void* data, int n, MPI_Datatype type, int to, int tag, int from, int its_tag,
                MPI_Comm comm, MPI_Status* status),
               (data, n, type, to, tag, from, its_tag, comm, status),
               exchange(call, span, bytes_of(n, type), to, from, comm))

FABRISCOPE_MPI(MPI_Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status),
               (from, tag, comm, seen(status, own)),
               message(call, span, 0, seen(status, own)->MPI_SOURCE, comm))

FABRISCOPE_MPI(MPI_Iprobe, (int from, int tag, MPI_Comm comm, int* flag, MPI_Status* status),
               (from, tag, comm, flag, status), message(call, span, 0, from, comm))

FABRISCOPE_MPI(MPI_Mprobe,
               (int from, int tag, MPI_Comm comm, MPI_Message* which, MPI_Status* status),
               (from, tag, comm, which, status), message(call, span, 0, from, comm))

FABRISCOPE_MPI(MPI_Improbe,
               (int from, int tag, MPI_Comm comm, int* flag, MPI_Message* which,
                MPI_Status* status),
               (from, tag, comm, flag, which, status), message(call, span, 0, from, comm))
