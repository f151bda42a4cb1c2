// Waiting for what was begun, and starting what was prepared.
#include "wrap.h"

namespace fabriscope::profile {
namespace {

void waited(Call call, const Span& span, std::uint32_t peer) {
  count(call, 0, 0, peer, span.ticks());
}

void starts(Call call, const Span& span, int n, const MPI_Request* requests) {
  for (int i = 0; i < n; ++i) {
    const Request about = recall(requests[i]);
    // A receive takes nobody's time by itself, and what it is sent counts at the sender.
    const std::uint64_t sent = about.is_receive ? 0 : about.bytes;
    count(call, sent, sent, about.is_receive ? kNobody : about.peer, i == 0 ? span.ticks() : 0);
  }
}

void completed(const Handles& before, int n, const int* places) {
  for (int i = 0; i < n && n != MPI_UNDEFINED; ++i) before.complete_at(places[i]);
}

}  // namespace
}  // namespace fabriscope::profile

using namespace fabriscope::profile;  // NOLINT(google-build-using-namespace): what follows is MPI's
                                      // own names

// Like FABRISCOPE_MPI, for calls that overwrite handles: these are kept `before`.
#define FABRISCOPE_COMPLETES(name, parameters, arguments, n, handles, note) \
  extern "C" int name parameters {                                          \
    static const auto real = found<decltype(&name)>("P" #name);             \
    const Handles before(n, handles);                                       \
    Span span;                                                              \
    const int code = real arguments;                                        \
    if (span.ends(code)) {                                                  \
      constexpr Call call = Call::k##name;                                  \
      note;                                                                 \
    }                                                                       \
    return code;                                                            \
  }                                                                         \
  extern "C" __attribute__((alias(#name))) decltype(name) P##name;

FABRISCOPE_COMPLETES(MPI_Wait, (MPI_Request * request, MPI_Status* status), (request, status), 1,
                     request, (waited(call, span, before.only_peer()), before.complete_all()))
FABRISCOPE_COMPLETES(MPI_Waitall, (int n, MPI_Request requests[], MPI_Status statuses[]),
                     (n, requests, statuses), n, requests,
                     (waited(call, span, before.only_peer()), before.complete_all()))
FABRISCOPE_COMPLETES(MPI_Waitany, (int n, MPI_Request requests[], int* place, MPI_Status* status),
                     (n, requests, place, status), n, requests,
                     (waited(call, span, before.only_peer()), before.complete_at(*place)))
FABRISCOPE_COMPLETES(MPI_Waitsome,
                     (int n, MPI_Request requests[], int* done, int places[],
                      MPI_Status statuses[]),
                     (n, requests, done, places, statuses), n, requests,
                     (waited(call, span, before.only_peer()), completed(before, *done, places)))
FABRISCOPE_COMPLETES(MPI_Test, (MPI_Request * request, int* flag, MPI_Status* status),
                     (request, flag, status), 1, request,
                     (waited(call, span, kNobody), *flag != 0 ? before.complete_all() : void()))
FABRISCOPE_COMPLETES(MPI_Testall, (int n, MPI_Request requests[], int* flag, MPI_Status statuses[]),
                     (n, requests, flag, statuses), n, requests,
                     (waited(call, span, kNobody), *flag != 0 ? before.complete_all() : void()))
FABRISCOPE_COMPLETES(MPI_Testany,
                     (int n, MPI_Request requests[], int* place, int* flag, MPI_Status* status),
                     (n, requests, place, flag, status), n, requests,
                     (waited(call, span, kNobody),
                      *flag != 0 ? before.complete_at(*place) : void()))
FABRISCOPE_COMPLETES(MPI_Testsome,
                     (int n, MPI_Request requests[], int* done, int places[],
                      MPI_Status statuses[]),
                     (n, requests, done, places, statuses), n, requests,
                     (waited(call, span, kNobody), completed(before, *done, places)))

FABRISCOPE_MPI(MPI_Start, (MPI_Request * request), (request), starts(call, span, 1, request))
FABRISCOPE_MPI(MPI_Startall, (int n, MPI_Request requests[]), (n, requests),
               starts(call, span, n, requests))

// Not counted: it ends what is remembered of a request.
extern "C" int MPI_Request_free(MPI_Request* request) {
  static const auto real = found<decltype(&MPI_Request_free)>("PMPI_Request_free");
  if (is_counting.load(std::memory_order_relaxed) && remembers_any()) forget_request(*request);
  return real(request);
}
extern "C" __attribute__((alias("MPI_Request_free"))) decltype(MPI_Request_free) PMPI_Request_free;
