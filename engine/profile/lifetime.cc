// From MPI_Init to the rank's end, and what becomes of communicators.
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gather.h"
#include "wrap.h"

namespace fabriscope::profile {
namespace {

constexpr const char* kFolderVariable = "FABRISCOPE_PROFILE";
constexpr int kTrials = 1024;
// The most that any library says of itself (MPICH), whichever this was compiled for.
constexpr std::size_t kWordsBytes = 8193;
constexpr unsigned kSpeakingSeconds = 1;

// The first moment on both clocks: when we are loaded, so that the second one, after MPI_Init, is
// far enough away.
const std::uint64_t first_tick = now_ticks();
const std::uint64_t first_ns = now_ns();

// Where its launcher started this process: the first rank of each host speaks for it.
bool is_first_of_host() {
  for (const char* const name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
    if (const char* const rank = std::getenv(name); rank != nullptr) return std::atoi(rank) == 0;
  }
  return true;
}

std::uint64_t job() {
  std::uint64_t digest = 0;
  for (const char* const name : {"PMIX_NAMESPACE", "PMI_JOBID", "SLURM_STEP_ID"}) {
    const char* text = std::getenv(name);
    for (; text != nullptr && *text != 0; ++text) {
      digest = (digest ^ static_cast<unsigned char>(*text)) * 0x100000001b3u;
    }
  }
  return digest;
}

template <std::size_t kSize>
void write(std::array<char, kSize>& field, const char* text) {
  std::strncpy(field.data(), text, kSize - 1);
}

// Returns what the MPI library calls itself; empty where it is too old to say.
std::array<char, kWordsBytes> library_words() {
  std::array<char, kWordsBytes> words{};
  const auto ask = found<decltype(&PMPI_Get_library_version)>("PMPI_Get_library_version");
  int length = 0;
  ask(words.data(), &length);
  return words;
}

// Ends the process, before its library has begun, where this was compiled for a library of the
// other kind: handles of Open MPI are pointers, those of MPICH and its relatives numbers.
void check_library() {
  static bool is_checked = false;
  if (is_checked) return;
  is_checked = true;
#ifdef OPEN_MPI
  constexpr bool kIsOpenMpi = true;
#else
  constexpr bool kIsOpenMpi = false;
#endif
  auto words = library_words();
  const bool runs_open_mpi = find_variable("ompi_mpi_comm_world") != nullptr;
  if (runs_open_mpi == kIsOpenMpi) return;
  words.data()[std::strcspn(words.data(), ",\n")] = 0;
  if (is_first_of_host()) {
    std::fprintf(
        stderr,
        "fabriscope: the program runs with %s, and the profile's library was built with %s -- "
        "name the program's own: fabriscope profile --mpi NAME\n",
        words.data(), kIsOpenMpi ? "Open MPI" : "MPICH or a relative of it");
  } else {
    sleep(kSpeakingSeconds);  // The first end of a rank ends all.
  }
  std::_Exit(1);
}

void read_program(std::array<char, 256>& name) {
  const ssize_t length = readlink("/proc/self/exe", name.data(), name.size() - 1);
  if (length < 0) write(name, "unknown");
}

// Returns what 1024 calls cost beyond themselves: they are counted, of the smallest message, and
// taken back.
void measure_cost() {
  const auto trial = [] {
    Span span;
    if (span.ends(0)) {
      count(Call::kMPI_Send, bytes_of(1, byte_handle()), 1, communicator(world_handle()).peer(0),
            span.ticks());
    }
  };
  trial();  // Its entry and what it asks the library are there from now on.
  const std::uint64_t begin = now_ticks();
  for (int i = 0; i < kTrials; ++i) trial();
  header()->cost_ticks_of_1024 = now_ticks() - begin;
}

void begin() {
  const char* const folder = std::getenv(kFolderVariable);
  if (folder == nullptr || *folder == 0 || header() != nullptr) return;
  static Header about{};
  about.first_tick = first_tick;
  about.first_ns = first_ns;
  const auto rank_of = found<decltype(&PMPI_Comm_rank)>("PMPI_Comm_rank");
  const auto size_of = found<decltype(&PMPI_Comm_size)>("PMPI_Comm_size");
  const auto level_of = found<decltype(&PMPI_Query_thread)>("PMPI_Query_thread");
  int rank = 0;
  int size = 0;
  int level = 0;
  rank_of(world_handle(), &rank);
  size_of(world_handle(), &size);
  level_of(&level);
  about.rank = static_cast<std::uint32_t>(rank);
  about.rank_count = static_cast<std::uint32_t>(size);
  about.threads = level >= MPI_THREAD_MULTIPLE ? kManyThreads : kOneThread;
  about.started_unix_ns = now_ns(CLOCK_REALTIME);
  about.job = job();
  gethostname(about.host.data(), about.host.size() - 1);
  read_program(about.program);
  write(about.library, library_words().data());
  has_threads = level == MPI_THREAD_MULTIPLE;
  if (!open_file(gathers() ? nullptr : folder, about, is_first_of_host())) return;
  pthread_atfork(nullptr, nullptr, forget_file);
  measure_cost();
  header()->second_tick = now_ticks();
  header()->second_ns = now_ns();
  restart();
}

// A program that ends without MPI_Finalize.
__attribute__((destructor)) void leave() { close_file(State::kExited); }

template <typename Real, typename... Arguments>
int initialise(Real real, Arguments... arguments) {
  check_library();
  ++depth;
  const int code = real(arguments...);
  --depth;
  if (code == MPI_SUCCESS && depth == 0) begin();
  return code;
}

}  // namespace
}  // namespace fabriscope::profile

using namespace fabriscope::profile;  // NOLINT(google-build-using-namespace): what follows is MPI's
                                      // own names

extern "C" int MPI_Init(int* count, char*** words) {
  return initialise(found<decltype(&MPI_Init)>("PMPI_Init"), count, words);
}

extern "C" int MPI_Init_thread(int* count, char*** words, int wanted, int* given) {
  return initialise(found<decltype(&MPI_Init_thread)>("PMPI_Init_thread"), count, words, wanted,
                    given);
}

extern "C" int MPI_Finalize() {
  if (depth == 0) {
    close_file(State::kFinalized);
    if (const char* const folder = std::getenv(kFolderVariable); folder != nullptr) {
      gather_files(folder);
    }
  }
  return found<decltype(&MPI_Finalize)>("PMPI_Finalize")();
}

extern "C" int MPI_Abort(MPI_Comm comm, int code) {
  close_file(State::kAborted);
  return found<decltype(&MPI_Abort)>("PMPI_Abort")(comm, code);
}

// A program that knows of profiles says what of it is to be counted.
extern "C" int MPI_Pcontrol(const int level, ...) {
  if (level == 0) stop_counting();
  if (level == 1) go_on();
  if (level == 2) restart();
  return MPI_SUCCESS;
}
extern "C" __attribute__((alias("MPI_Pcontrol"))) decltype(MPI_Pcontrol) PMPI_Pcontrol;

// Ends a communicator; what is known of it ends before its handle can mean another one.
#define FABRISCOPE_ENDS(name)                                                    \
  extern "C" int name(MPI_Comm* comm) {                                          \
    static const auto real = found<decltype(&name)>("P" #name);                  \
    if (is_counting.load(std::memory_order_relaxed)) forget_communicator(*comm); \
    Span span;                                                                   \
    const int code = real(comm);                                                 \
    if (span.ends(code)) count(Call::k##name, 0, 0, kNobody, span.ticks());      \
    return code;                                                                 \
  }                                                                              \
  extern "C" __attribute__((alias(#name))) decltype(name) P##name;
FABRISCOPE_ENDS(MPI_Comm_free)
FABRISCOPE_ENDS(MPI_Comm_disconnect)

// Not counted: it ends what is known of a type.
extern "C" int MPI_Type_free(MPI_Datatype* type) {
  static const auto real = found<decltype(&MPI_Type_free)>("PMPI_Type_free");
  forget_type(*type);
  return real(type);
}
extern "C" __attribute__((alias("MPI_Type_free"))) decltype(MPI_Type_free) PMPI_Type_free;

FABRISCOPE_MPI(MPI_Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made),
               count(call, 0, 0, communicator(comm).group, span.ticks()))
FABRISCOPE_MPI(MPI_Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm* made),
               (comm, colour, key, made), count(call, 0, 0, communicator(comm).group, span.ticks()))
FABRISCOPE_MPI(MPI_Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm* made),
               (comm, group, made), count(call, 0, 0, communicator(comm).group, span.ticks()))

extern "C" __attribute__((alias("MPI_Init"))) decltype(MPI_Init) PMPI_Init;
extern "C" __attribute__((alias("MPI_Init_thread"))) decltype(MPI_Init_thread) PMPI_Init_thread;
extern "C" __attribute__((alias("MPI_Finalize"))) decltype(MPI_Finalize) PMPI_Finalize;
extern "C" __attribute__((alias("MPI_Abort"))) decltype(MPI_Abort) PMPI_Abort;
