// Ranks that an MPI launcher started.
#include "fabriscope/rendezvous.h"

#ifdef FABRISCOPE_WITH_MPI

#include <dirent.h>
#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <numeric>
#include <optional>

#include "../net/bell_lines.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

class MpiLibrary {
 public:
  MpiLibrary() {
    // The watchdog's thread makes no MPI call.
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS) {
      throw RunError("MPI_Init_thread failed");
    }
  }
  ~MpiLibrary() { MPI_Finalize(); }
  MpiLibrary(const MpiLibrary&) = delete;
  MpiLibrary& operator=(const MpiLibrary&) = delete;
};

// MPI's default error handler ends the job with its own message, so no result is looked at here.
class MpiRendezvous : public Rendezvous {
 public:
  MpiRendezvous() {
    // Apart from the transport's messages.
    MPI_Comm_dup(MPI_COMM_WORLD, &communicator_);
    MPI_Comm_rank(communicator_, &rank_);
    MPI_Comm_size(communicator_, &rank_count_);
  }
  ~MpiRendezvous() override { MPI_Comm_free(&communicator_); }
  MpiRendezvous(const MpiRendezvous&) = delete;
  MpiRendezvous& operator=(const MpiRendezvous&) = delete;

  int rank() const override { return rank_; }
  int rank_count() const override { return rank_count_; }

  void close_library_sockets() const override {
    DIR* folder = ::opendir("/proc/thread-self/fd");
    if (folder == nullptr) return;
    while (const dirent* entry = ::readdir(folder)) {
      const int file = std::atoi(entry->d_name);
      struct stat status {};
      const bool is_ours = file <= STDERR_FILENO;
      if (!is_ours && ::fstat(file, &status) == 0 && S_ISSOCK(status.st_mode)) ::close(file);
    }
    ::closedir(folder);
  }

  std::vector<std::string> gather(const std::string& text) override {
    const auto count = static_cast<std::size_t>(rank_ == 0 ? rank_count_ : 0);
    const int length = static_cast<int>(text.size());
    std::vector<int> lengths(count);
    MPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, communicator_);
    std::vector<int> offsets(count);
    if (count > 0) std::partial_sum(lengths.begin(), lengths.end() - 1, offsets.begin() + 1);
    std::string all(static_cast<std::size_t>(std::accumulate(lengths.begin(), lengths.end(), 0)),
                    '\0');
    MPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
                0, communicator_);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
      texts.push_back(
          all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
    }
    return texts;
  }

  std::string broadcast(const std::string& text) override {
    int length = static_cast<int>(text.size());
    MPI_Bcast(&length, 1, MPI_INT, 0, communicator_);
    std::string received = text;
    received.resize(static_cast<std::size_t>(length));
    MPI_Bcast(received.data(), length, MPI_CHAR, 0, communicator_);
    return received;
  }

  void barrier() override { MPI_Barrier(communicator_); }

  // A call of the library that waits uses a processor, so the ranks wait outside of it.
  void rest(const std::function<void()>& wait) override {
    if (!bells_) bells_.emplace(*this);
    if (rank_ == 0) wait();
    if (!bells_->are_open()) return nap();
    if (rank_ == 0) {
      bells_->ring();
    } else {
      bells_->sleep();
    }
  }
  void abort(int exit_code) override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  // Until all have come: looks seldom enough to leave the processor to others.
  void nap() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(communicator_, &request);
    int is_over = 0;
    for (;;) {
      MPI_Test(&request, &is_over, MPI_STATUS_IGNORE);
      if (is_over != 0) return;
      ::usleep(kNapUs);
    }
  }

  static constexpr useconds_t kNapUs = 1000;

  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0;
  int rank_count_ = 0;
  std::optional<BellLines> bells_;
};

class MpiRendezvousKind : public RendezvousKind {
 public:
  int run(const Settings& settings, const RankProgram& program) override {
    const MpiLibrary library;
    MpiRendezvous rendezvous;
    if (rendezvous.rank_count() != settings.rank_count) {
      throw UsageError("the MPI launcher started " + std::to_string(rendezvous.rank_count()) +
                       " ranks, and --rank-count is " + std::to_string(settings.rank_count));
    }
    return program(rendezvous);
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(rendezvous_registry, "mpi",
                    [] { return std::make_unique<fabriscope::MpiRendezvousKind>(); })

#else

FABRISCOPE_REGISTER(
    rendezvous_registry, "mpi", [] { return nullptr; }, "this program was built without MPI")

#endif
