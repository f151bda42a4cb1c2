#include "turns.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "fabriscope/clock.h"
#include "fabriscope/error.h"
#include "interrupt.h"
#include "schedule.h"

namespace fabriscope {
namespace {

// How often a sleeper looks whether the one who has the turn still lives.
constexpr std::int64_t kLivenessEveryNs = 200'000'000;
constexpr std::int64_t kLockPatienceNs = 1'000'000'000;
constexpr useconds_t kLockPollUs = 50;
constexpr off_t kTableLock = 0;  // bytes of the file: who holds one may write, or is a member
constexpr off_t kFirstMemberLock = 1;

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
                  std::atomic<std::int64_t>::is_always_lock_free,
              "processes share these");

// Of the open file, not of the process: also a member of the same process is another one.
struct flock lock_of(off_t byte, short kind) {
  struct flock lock {};
  lock.l_type = kind;
  lock.l_whence = SEEK_SET;
  lock.l_start = byte;
  lock.l_len = 1;
  return lock;
}

bool set_lock(int fd, int command, off_t byte, short kind) {
  struct flock lock = lock_of(byte, kind);
  while (::fcntl(fd, command, &lock) != 0) {
    if (errno != EINTR) return false;
  }
  return true;
}

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return ::syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                   nullptr, 0);
}

}  // namespace

// The kernel frees it of who dies with it. Who is stopped with it keeps it for microseconds of its
// own: after a while the others go on without it, for a turn has one holder whoever writes its
// name.
class Turns::Locked {
 public:
  explicit Locked(int fd) : fd_(fd) {
    const std::int64_t until_ns = SteadyClock::now() + kLockPatienceNs;
    while (!set_lock(fd_, F_OFD_SETLK, kTableLock, F_WRLCK) && SteadyClock::now() < until_ns) {
      ::usleep(kLockPollUs);
    }
  }
  ~Locked() { set_lock(fd_, F_OFD_SETLK, kTableLock, F_UNLCK); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  int fd_;
};

Turns::Turns(const TurnSpec& spec, std::uint64_t seed, std::int64_t overdue_ns)
    : spec_(spec), overdue_ns_(overdue_ns + kSlowest * spec.turn_ns) {
  open_table(seed);
  if (!set_lock(file_.get(), F_OFD_SETLK, kFirstMemberLock + spec_.member, F_WRLCK)) {
    throw RunError("the group has a member " + std::to_string(spec_.member) + " already");
  }
}

Turns::~Turns() {
  try {
    const Locked locked(file_.get());
    self().state = kGone;
    if (is_ours()) choose();
    bool is_last = true;
    for (int member = 0; member < spec_.member_count; ++member) {
      is_last = is_last && (member == spec_.member || !is_alive(member));
    }
    if (is_last) ::unlink(spec_.table_path.c_str());
  } catch (const std::exception&) {
    // The others find that this one is gone.
  }
  ::munmap(table_, sizeof(Table));
}

// A file of zeros is a table in which nothing has happened yet.
void Turns::open_table(std::uint64_t seed) {
  constexpr int kFlags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW;
  file_ = UniqueFd(::open(spec_.table_path.c_str(), kFlags, 0600));
  if (!file_) throw system_failure("open the turns' table " + spec_.table_path);
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw system_failure("look at the turns' table");
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid()) {
    throw RunError("the turns' table " + spec_.table_path + " is not this user's own file");
  }
  const Locked locked(file_.get());
  if (::posix_fallocate(file_.get(), 0, sizeof(Table)) != 0) {
    throw RunError("there is no room for the turns' table " + spec_.table_path);
  }
  void* mapped = ::mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
  if (mapped == MAP_FAILED) throw system_failure("map the turns' table");
  table_ = static_cast<Table*>(mapped);
  const auto count = static_cast<std::uint32_t>(spec_.member_count);
  if (table_->member_count == 0) {
    table_->seed = seed;
    table_->member_count = count;
  }
  if (table_->member_count == count) return;
  ::munmap(mapped, sizeof(Table));
  throw RunError("the turns' table " + spec_.table_path + " is of a group of another size");
}

bool Turns::is_ours() const { return table_->holder == name(); }

bool Turns::is_over(std::int64_t next_visit) {
  const std::int64_t lasted_ns = SteadyClock::now() - began_ns_;
  if (table_->goal > table_->first_visit) {
    return next_visit >= table_->goal || lasted_ns >= kSlowest * spec_.turn_ns;
  }
  if (lasted_ns < spec_.turn_ns) return false;
  if (is_ours()) table_->goal = next_visit;
  return true;
}

bool Turns::next() {
  {
    const Locked locked(file_.get());
    self().state = kWaiting;
    if (is_ours()) choose();
  }
  for (;;) {
    if (interrupting_signal() != 0) return false;
    const std::uint32_t bell = self().bell;
    if (is_ours()) break;
    look();
    if (!is_ours()) sleep(bell);
  }
  cycle_ = table_->cycle;
  began_ns_ = SteadyClock::now();
  return true;
}

void Turns::sleep(std::uint32_t bell) {
  timespec longest{};
  longest.tv_nsec = kLivenessEveryNs;
  futex(self().bell, FUTEX_WAIT, bell, &longest);
}

// Asked by who waits: an answer for all.
void Turns::look() {
  const Locked locked(file_.get());
  const std::int64_t now_ns = SteadyClock::now();
  const std::uint32_t holder = table_->holder;
  if (holder == 0) {
    std::int64_t none = 0;
    table_->gathering_since_ns.compare_exchange_strong(none, now_ns);
    const bool is_late = now_ns - table_->gathering_since_ns >= kGatherNs;
    if (table_->has_begun != 0 || is_late || all_are_here()) choose();
    return;
  }
  const int member = static_cast<int>(holder) - 1;
  if (member == spec_.member) return;
  const bool is_stuck = now_ns - table_->turn_since_ns >= overdue_ns_;
  if (!is_stuck && is_alive(member)) return;
  table_->members[static_cast<std::size_t>(member)].state = kAbsent;
  choose();
}

bool Turns::all_are_here() const {
  for (int member = 0; member < spec_.member_count; ++member) {
    if (table_->members[static_cast<std::size_t>(member)].state == kAbsent) return false;
  }
  return true;
}

bool Turns::is_alive(int member) const {
  struct flock lock = lock_of(kFirstMemberLock + member, F_WRLCK);
  return ::fcntl(file_.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

// The rest of the cycle's order, then the whole of the next one's.
void Turns::choose() {
  table_->has_begun = 1;
  const auto count = static_cast<std::size_t>(spec_.member_count);
  for (int pass = 0; pass < 2; ++pass) {
    const std::vector<std::size_t> order = round_order(table_->seed, table_->cycle, count);
    while (table_->place < count) {
      const std::size_t member = order[table_->place++];
      if (give_turn_to(static_cast<int>(member))) return;
    }
    begin_cycle();
  }
  table_->holder = 0;
}

void Turns::begin_cycle() {
  table_->place = 0;
  table_->first_visit = std::max<std::int64_t>(table_->first_visit, table_->goal);
  ++table_->cycle;
}

bool Turns::give_turn_to(int member) {
  Member& one = table_->members[static_cast<std::size_t>(member)];
  if (one.state != kWaiting || (member != spec_.member && !is_alive(member))) return false;
  table_->turn_since_ns = SteadyClock::now();
  table_->holder = static_cast<std::uint32_t>(member) + 1;
  ++one.bell;
  if (member != spec_.member) futex(one.bell, FUTEX_WAKE, 1, nullptr);
  return true;
}

}  // namespace fabriscope
