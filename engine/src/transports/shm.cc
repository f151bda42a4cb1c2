// Ranks on one host, two by two: a ring of bytes each way in shared memory. Every message is
// preceded by its length, so that messages of no bytes can be told from nothing, and a receiver
// that expects another size notices.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "../net/unique_fd.h"
#include "backoff.h"
#include "fabriscope/error.h"
#include "fabriscope/transport.h"
#include "ring.h"

namespace fabriscope {
namespace {

constexpr std::size_t kRingBytes = 256U << 10;
// How much is copied before the other side learns of it: so that a long message is copied in and
// out at the same time.
constexpr std::size_t kPartBytes = 16U << 10;

// Random, in hexadecimal digits: whoever maps the memory sees whether it is the one that was meant.
constexpr std::size_t kMarkLength = 32;

struct SharedRings {
  std::array<char, kMarkLength> mark;
  std::array<RingPositions, 2> positions;  // 0: from the lower rank to the higher
  alignas(4096) std::array<std::array<unsigned char, kRingBytes>, 2> data;
};

// The memory, mapped. It goes with the last rank that has it, however that ends.
class SharedMemory {
 public:
  SharedMemory() = default;
  explicit SharedMemory(const UniqueFd& file) {
    void* address = ::mmap(nullptr, sizeof(SharedRings), PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_POPULATE, file.get(), 0);
    if (address == MAP_FAILED) throw system_failure("map the shared memory");
    rings_ = static_cast<SharedRings*>(address);
  }
  SharedMemory(SharedMemory&& other) noexcept : rings_(std::exchange(other.rings_, nullptr)) {}
  SharedMemory& operator=(SharedMemory&& other) noexcept {
    std::swap(rings_, other.rings_);
    return *this;
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  ~SharedMemory() {
    if (rings_ != nullptr) ::munmap(rings_, sizeof(SharedRings));
  }

  void set_mark(const std::string& mark) {
    std::memcpy(rings_->mark.data(), mark.data(), rings_->mark.size());
  }
  bool has_mark(const std::string& mark) const {
    return mark.size() == kMarkLength &&
           std::memcmp(rings_->mark.data(), mark.data(), kMarkLength) == 0;
  }

  RingWriter writer(std::size_t direction) {
    return {rings_->positions[direction], rings_->data[direction].data(), kRingBytes};
  }
  RingReader reader(std::size_t direction) {
    return {rings_->positions[direction], rings_->data[direction].data(), kRingBytes};
  }

 private:
  SharedRings* rings_ = nullptr;
};

struct RingSend {
  const unsigned char* next;
  std::size_t left_bytes;
  bool announced;
};

struct RingRecv {
  unsigned char* next;
  std::size_t left_bytes;
  bool announced;
};

class ShmEndpoint : public Endpoint {
 public:
  ShmEndpoint(SharedMemory memory, bool lower_rank)
      : memory_(std::move(memory)),
        writer_(memory_.writer(lower_rank ? 0 : 1)),
        reader_(memory_.reader(lower_rank ? 1 : 0)) {}

  void send(const void* data, std::size_t size_bytes) override {
    RingSend request{static_cast<const unsigned char*>(data), size_bytes, false};
    for (Backoff backoff; !done(request);) {
      if (push(request)) {
        backoff = Backoff();
      } else {
        backoff.wait();
      }
    }
  }

  void recv(void* data, std::size_t size_bytes) override {
    RingRecv request{static_cast<unsigned char*>(data), size_bytes, false};
    for (Backoff backoff; !done(request);) {
      if (pull(request)) {
        backoff = Backoff();
      } else {
        backoff.wait();
      }
    }
  }

  void reserve(std::size_t request_count) override {
    sends_.reserve(request_count);
    recvs_.reserve(request_count);
  }
  void post_send(const void* data, std::size_t size_bytes) override {
    sends_.push_back({static_cast<const unsigned char*>(data), size_bytes, false});
  }
  void post_recv(void* data, std::size_t size_bytes) override {
    recvs_.push_back({static_cast<unsigned char*>(data), size_bytes, false});
  }

  void wait_all() override {
    Backoff backoff;
    while (sent_ < sends_.size() || received_ < recvs_.size()) {
      if (advance()) {
        backoff = Backoff();
      } else {
        backoff.wait();
      }
    }
    forget();
  }
  bool test_all() override {
    while (advance()) {
    }
    if (sent_ < sends_.size() || received_ < recvs_.size()) return false;
    forget();
    return true;
  }

  Fields effective_options() const override {
    return {{"ring_bytes", static_cast<std::int64_t>(kRingBytes)}};
  }

 private:
  template <typename Request>
  static bool done(const Request& request) {
    return request.announced && request.left_bytes == 0;
  }

  // One part further in each direction, or false where there is none to go.
  bool advance() {
    const bool out = sent_ < sends_.size() && push(sends_[sent_]);
    if (out && done(sends_[sent_])) ++sent_;
    const bool in = received_ < recvs_.size() && pull(recvs_[received_]);
    if (in && done(recvs_[received_])) ++received_;
    return out || in;
  }

  void forget() {
    sends_.clear();
    recvs_.clear();
    sent_ = 0;
    received_ = 0;
  }

  // One part further, or false where the ring is full.
  bool push(RingSend& request) {
    if (!request.announced) {
      if (!writer_.has_room(sizeof(std::uint64_t) + 1)) return false;
      const std::uint64_t size_bytes = request.left_bytes;
      std::array<unsigned char, sizeof size_bytes> head;
      std::memcpy(head.data(), &size_bytes, head.size());
      writer_.stage(head.data(), head.size());
      request.announced = true;
    } else if (!writer_.has_room(1)) {
      return false;
    }
    const std::size_t count = writer_.stage(request.next, std::min(request.left_bytes, kPartBytes));
    writer_.publish();
    request.next += count;
    request.left_bytes -= count;
    return true;
  }

  // One part further, or false where the ring is empty.
  bool pull(RingRecv& request) {
    if (!request.announced) {
      if (!reader_.has_bytes(sizeof(std::uint64_t))) return false;
      std::array<unsigned char, sizeof(std::uint64_t)> head;
      reader_.take(head.data(), head.size());
      std::uint64_t size_bytes = 0;
      std::memcpy(&size_bytes, head.data(), head.size());
      if (size_bytes != request.left_bytes) {
        throw RunError("a message of " + std::to_string(size_bytes) + " bytes came where one of " +
                       std::to_string(request.left_bytes) + " was expected");
      }
      request.announced = true;
    } else if (!reader_.has_bytes(1)) {
      return false;
    }
    const std::size_t count = reader_.take(request.next, std::min(request.left_bytes, kPartBytes));
    reader_.release();
    request.next += count;
    request.left_bytes -= count;
    return true;
  }

  SharedMemory memory_;
  RingWriter writer_;
  RingReader reader_;
  std::vector<RingSend> sends_;
  std::vector<RingRecv> recvs_;
  std::size_t sent_ = 0;  // of these
  std::size_t received_ = 0;
};

std::string random_text() {
  std::array<unsigned char, kMarkLength / 2> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    throw system_failure("draw a random name");
  }
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

// Takes the memory now: where there is none, that is an error here and not a signal later.
void size_rings(const UniqueFd& file) {
  int reason = ::ftruncate(file.get(), sizeof(SharedRings)) == 0 ? EINTR : errno;
  while (reason == EINTR) reason = ::posix_fallocate(file.get(), 0, sizeof(SharedRings));
  if (reason != 0) {
    throw std::system_error(reason, std::generic_category(), "cannot size the shared memory");
  }
}

UniqueFd make_nameless() {
#ifdef SYS_memfd_create
  constexpr unsigned kCloseOnExec = 1;
  return UniqueFd(static_cast<int>(::syscall(SYS_memfd_create, "fabriscope", kCloseOnExec)));
#else
  return {};
#endif
}

// A name in /dev/shm that nobody can guess, gone with this object.
class SharedName {
 public:
  SharedName() : name_("/fabriscope-" + random_text()) {
    file_ = UniqueFd(::shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file_) throw system_failure("make shared memory");
  }
  ~SharedName() { ::shm_unlink(name_.c_str()); }
  SharedName(const SharedName&) = delete;
  SharedName& operator=(const SharedName&) = delete;

  const std::string& name() const { return name_; }
  const UniqueFd& file() const { return file_; }

 private:
  std::string name_;
  UniqueFd file_;
};

// Where the peer finds memory without a name: in this process's table of files. By /proc, whose
// numbers of processes may be others than getpid() knows.
std::string place_of(const UniqueFd& file) {
  std::array<char, 32> process{};
  if (::readlink("/proc/self", process.data(), process.size() - 1) <= 0) return {};
  return "/proc/" + std::string(process.data()) + "/fd/" + std::to_string(file.get());
}

bool has_rings(const UniqueFd& file) {
  struct stat status {};
  return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_size == sizeof(SharedRings);
}

// What one rank offers: where its memory is, and the mark that it bears.
struct Offer {
  std::string mark;
  std::string place;

  std::string text() const { return mark + place; }
  static Offer read(const std::string& text) {
    if (text.size() <= kMarkLength) return {};
    return {text.substr(0, kMarkLength), text.substr(kMarkLength)};
  }
};

class ShmTransport : public Transport {
 public:
  std::unique_ptr<Endpoint> open(Rendezvous& rendezvous, int peer,
                                 const OptionSet& options) override {
    refuse_options("shm", options);
    const bool creates = rendezvous.rank() < peer;
    const bool joins = peer >= 0 && !creates;
    UniqueFd file;
    SharedMemory memory;
    const std::vector<std::string> offers = agree(rendezvous, [&]() -> std::string {
      if (!creates) return {};
      file = make_nameless();
      if (!file) return {};
      return offer(file, memory, place_of(file)).text();
    });
    const std::vector<std::string> wishes = agree(rendezvous, [&]() -> std::string {
      if (!joins) return {};
      const Offer offered = Offer::read(offers[static_cast<std::size_t>(peer)]);
      return accept(offered, memory) ? "" : "a name";
    });
    const bool all_have_it = std::all_of(wishes.begin(), wishes.end(),
                                         [](const std::string& wish) { return wish.empty(); });
    if (!all_have_it) share_by_name(rendezvous, peer, wishes, memory);
    if (peer < 0) return nullptr;
    return std::make_unique<ShmEndpoint>(std::move(memory), creates);
  }

 private:
  static Offer offer(const UniqueFd& file, SharedMemory& memory, const std::string& place) {
    size_rings(file);
    memory = SharedMemory(file);
    const std::string mark = random_text();
    memory.set_mark(mark);
    return {mark, place};
  }

  // False where the peer's table of files is not to be seen from here: another host, another
  // namespace of processes, or one that may not be looked into.
  static bool accept(const Offer& offered, SharedMemory& memory) {
    if (offered.place.empty()) return false;
    const UniqueFd file(::open(offered.place.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!has_rings(file)) return false;
    SharedMemory seen(file);
    if (!seen.has_mark(offered.mark)) return false;
    memory = std::move(seen);
    return true;
  }

  // For pairs that share /dev/shm and nothing more. The name is there from one step to the next.
  static void share_by_name(Rendezvous& rendezvous, int peer,
                            const std::vector<std::string>& wishes, SharedMemory& memory) {
    const int rank = rendezvous.rank();
    const bool gives = peer > rank && !wishes[static_cast<std::size_t>(peer)].empty();
    const bool takes = peer >= 0 && peer < rank && !wishes[static_cast<std::size_t>(rank)].empty();
    std::unique_ptr<SharedName> created;
    const std::vector<std::string> offers = agree(rendezvous, [&]() -> std::string {
      if (!gives) return {};
      created = std::make_unique<SharedName>();
      return offer(created->file(), memory, created->name()).text();
    });
    agree(rendezvous, [&]() -> std::string {
      if (!takes) return {};
      const Offer offered = Offer::read(offers[static_cast<std::size_t>(peer)]);
      const UniqueFd file(::shm_open(offered.place.c_str(), O_RDWR | O_CLOEXEC, 0));
      if (!file) {
        throw system_failure("open the peer's shared memory " + offered.place + " (another host?)");
      }
      if (!has_rings(file)) throw CaseError("the shared memory has another size");
      SharedMemory seen(file);
      if (!seen.has_mark(offered.mark)) throw CaseError("the shared memory is another rank's");
      memory = std::move(seen);
      return {};
    });
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(transport_registry, "shm", [](const fabriscope::Settings&) {
  return std::make_unique<fabriscope::ShmTransport>();
})
