// Loaded into another benchmark program (LD_PRELOAD), it writes down each round trip of its
// ping-pong, so that programs that print means, or the least of some means, can be compared by
// medians as well.
//
// A round trip lasts from one start of a message of ROUND_TRIP_BYTES to the next: write() or send()
// on sockets, and with MPI from one MPI_Recv's end to the next, as IMB's rank 0 makes them. That
// adds one clock read to a round trip of the program. Where they go is said in `_overheard.h`.
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "_overheard.h"

#ifdef WITH_MPI
#include <mpi.h>
#endif

namespace {

std::int64_t previous = 0;

long wanted_bytes() {
  static const long bytes = [] {
    const char* text = std::getenv("ROUND_TRIP_BYTES");
    return text == nullptr ? -1 : std::atol(text);
  }();
  return bytes;
}

void stamp(std::size_t size_bytes) {
  if (static_cast<long>(size_bytes) != wanted_bytes()) {
    previous = 0;  // another phase of the program: no round trip spans it
    return;
  }
  const std::int64_t now_ns = overheard::now_ns();
  if (previous != 0) overheard::hear(previous, now_ns);
  previous = now_ns;
}

}  // namespace

#ifdef WITH_MPI

extern "C" int MPI_Recv(void* data, int element_count, MPI_Datatype type, int source, int tag,
                        MPI_Comm communicator, MPI_Status* status) {
  const int result = PMPI_Recv(data, element_count, type, source, tag, communicator, status);
  stamp(type == MPI_BYTE ? static_cast<std::size_t>(element_count) : 0);
  return result;
}

#else

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

extern "C" ssize_t write(int fd, const void* data, std::size_t size_bytes) {
  static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
  if (fd > STDERR_FILENO) stamp(size_bytes);
  return real(fd, data, size_bytes);
}

extern "C" ssize_t send(int fd, const void* data, std::size_t size_bytes, int flags) {
  static auto* const real = next<ssize_t(int, const void*, std::size_t, int)>("send");
  stamp(size_bytes);
  return real(fd, data, size_bytes, flags);
}

extern "C" ssize_t sendto(int fd, const void* data, std::size_t size_bytes, int flags,
                          const sockaddr* address, socklen_t length) {
  static auto* const real =
      next<ssize_t(int, const void*, std::size_t, int, const sockaddr*, socklen_t)>("sendto");
  stamp(size_bytes);
  return real(fd, data, size_bytes, flags, address, length);
}

#endif
