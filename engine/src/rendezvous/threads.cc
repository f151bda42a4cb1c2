// All ranks as threads of one process: for tests, and for a look at the instrument's floor.
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "fabriscope/error.h"
#include "fabriscope/rendezvous.h"

namespace fabriscope {
namespace {

// Where the threads' texts pass from hand to hand. Each call has a number, and a text of the next
// call waits until everybody has taken the last one's.
class Hub {
 public:
  explicit Hub(int rank_count) : texts_(static_cast<std::size_t>(rank_count)) {}

  // Every rank hands in a text; all leave together, with all texts.
  std::vector<std::string> meet(int rank, const std::string& text) {
    std::unique_lock<std::mutex> lock(mutex_);
    await(lock, [&] { return leaving_ == 0; });
    texts_[static_cast<std::size_t>(rank)] = text;
    if (++arrived_ == texts_.size()) {
      leaving_ = arrived_;
      arrived_ = 0;
      changed_.notify_all();
    } else {
      await(lock, [&] { return leaving_ > 0; });
    }
    std::vector<std::string> texts = texts_;
    if (--leaving_ == 0) changed_.notify_all();
    return texts;
  }

  void depart(int rank) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (departed_rank_ < 0) departed_rank_ = rank;
    changed_.notify_all();
  }

  int departed_rank(int asking) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return departed_rank_ == asking ? -1 : departed_rank_;
  }

 private:
  template <typename Predicate>
  void await(std::unique_lock<std::mutex>& lock, Predicate predicate) {
    changed_.wait(lock, [&] { return predicate() || departed_rank_ >= 0; });
    if (!predicate()) {
      throw RunError("the rendezvous lost rank " + std::to_string(departed_rank_));
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> texts_;
  std::size_t arrived_ = 0;
  std::size_t leaving_ = 0;
  int departed_rank_ = -1;
};

class ThreadsRendezvous : public Rendezvous {
 public:
  ThreadsRendezvous(Hub& hub, int rank, int rank_count)
      : hub_(hub), rank_(rank), rank_count_(rank_count) {}
  ~ThreadsRendezvous() override { hub_.depart(rank_); }
  ThreadsRendezvous(const ThreadsRendezvous&) = delete;
  ThreadsRendezvous& operator=(const ThreadsRendezvous&) = delete;

  int rank() const override { return rank_; }
  int rank_count() const override { return rank_count_; }
  std::vector<std::string> gather(const std::string& text) override {
    std::vector<std::string> texts = hub_.meet(rank_, text);
    return rank_ == 0 ? texts : std::vector<std::string>();
  }
  std::string broadcast(const std::string& text) override { return hub_.meet(rank_, text)[0]; }
  void barrier() override { hub_.meet(rank_, {}); }
  int departed_rank() override { return hub_.departed_rank(rank_); }

 private:
  Hub& hub_;
  int rank_;
  int rank_count_;
};

class ThreadsRendezvousKind : public RendezvousKind {
 public:
  int run(const Settings& settings, const RankProgram& program) override {
    const auto rank_count = static_cast<std::size_t>(settings.rank_count);
    Hub hub(settings.rank_count);
    std::vector<int> exit_codes(rank_count, kExitOk);
    std::vector<std::exception_ptr> errors(rank_count);
    std::vector<std::thread> threads;
    for (std::size_t rank = 0; rank < rank_count; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          ThreadsRendezvous rendezvous(hub, static_cast<int>(rank), settings.rank_count);
          exit_codes[rank] = program(rendezvous);
        } catch (...) {
          errors[rank] = std::current_exception();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors) {
      if (error) std::rethrow_exception(error);
    }
    for (const int exit_code : exit_codes) {
      if (exit_code != kExitOk) return exit_code;
    }
    return kExitOk;
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(rendezvous_registry, "threads",
                    [] { return std::make_unique<fabriscope::ThreadsRendezvousKind>(); })
