#include "counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

namespace fabriscope::profile {

__thread int depth = 0;
std::atomic<bool> is_counting{false};
bool has_threads = false;

namespace {

constexpr std::uint32_t kPlaces = 2 * kMostEntries;
constexpr std::size_t kNamesBytes = sizeof(kNames);
constexpr std::size_t kGroupsBytes = kMostGroups * sizeof(Group);
constexpr std::size_t kEntriesAt = sizeof(Header) + kNamesBytes + kGroupsBytes;
constexpr std::size_t kFileBytes = kEntriesAt + kMostEntries * sizeof(Entry);

char* file = nullptr;  // Mapped until the process ends: another thread may still count when the
                       // file is closed.
int descriptor = -1;
Entry* entries = nullptr;
bool is_open = false;
std::uint64_t paused_tick = 0;
Group* groups = nullptr;
// Place to the number of its entry, from 1; 0 where there is none.
std::array<std::atomic<std::uint16_t>, kPlaces> places{};
std::atomic_flag entries_lock = ATOMIC_FLAG_INIT;
std::atomic_flag groups_lock = ATOMIC_FLAG_INIT;

std::uint32_t first_place(std::uint64_t key) {
  return static_cast<std::uint32_t>((key * 0x9e3779b97f4a7c15u) >> 51u) % kPlaces;
}

// Returns the entry of a key, or the first free place for it.
Entry* look_up(std::uint64_t key, std::uint32_t& place) {
  for (place = first_place(key);; place = (place + 1) % kPlaces) {
    const std::uint16_t number = places[place].load(std::memory_order_acquire);
    if (number == 0) return nullptr;
    Entry& entry = entries[number - 1];
    if (entry.key == key) return &entry;
  }
}

// Returns the entry of a key, made if there was none; null where there are `limit` already.
Entry* entry_of(std::uint64_t key, std::uint32_t limit) {
  std::uint32_t place = 0;
  if (Entry* const entry = look_up(key, place); entry != nullptr) return entry;
  const Lock lock(entries_lock);
  if (Entry* const entry = look_up(key, place); entry != nullptr) return entry;
  std::uint32_t& used = header()->entry_count;
  if (used >= limit) return nullptr;
  entries[used].key = key;
  places[place].store(static_cast<std::uint16_t>(++used), std::memory_order_release);
  return &entries[used - 1];
}

std::uint64_t digest_of(std::uint32_t size, const std::uint32_t* members) {
  std::uint64_t digest = size;
  for (std::uint32_t i = 0; i < size; ++i) digest = (digest ^ members[i]) * 0x100000001b3u;
  return digest;
}

void refuse(const char* folder, const char* what, bool speaks) {
  if (!speaks) return;
  std::fprintf(stderr, "fabriscope: there is no profile of this host's ranks: %s in %s: %s\n", what,
               folder, std::strerror(errno));
}

// Returns memory that is a new file in a folder, or MAP_FAILED, and says why if `speaks`.
void* map_file(const char* folder, const Header& about, bool speaks) {
  static std::array<char, PATH_MAX> path;
  const int length =
      std::snprintf(path.data(), path.size(), "%s/%s-%d-%llu.profile", folder, about.host.data(),
                    getpid(), static_cast<unsigned long long>(about.started_unix_ns));
  errno = ENAMETOOLONG;
  const bool is_whole = length > 0 && static_cast<std::size_t>(length) < path.size();
  descriptor = is_whole ? open(path.data(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
  if (descriptor < 0) {
    refuse(folder, "a file cannot be made", speaks);
    return MAP_FAILED;
  }
  // Room that is not there would end the program with SIGBUS in the middle of a call.
  errno = posix_fallocate(descriptor, 0, static_cast<off_t>(kFileBytes));
  void* const mapped =
      errno != 0 ? MAP_FAILED
                 : mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (mapped == MAP_FAILED) {
    refuse(folder, "there is no room for 150 kB", speaks);
    close(descriptor);
    unlink(path.data());
  }
  return mapped;
}

}  // namespace

Header* header() { return reinterpret_cast<Header*>(file); }

const char* image() { return file; }

std::size_t image_bytes() {
  return file == nullptr ? 0 : kEntriesAt + header()->entry_count * sizeof(Entry);
}

bool Span::ends(int code) {
  if (counts_) end_ = now_ticks();
  --depth;
  has_left_ = true;
  if (!counts_ || !is_counting.load(std::memory_order_relaxed)) return false;
  header()->last_tick = end_;
  if (code != 0) add(header()->failed_calls, 1);
  return code == 0;
}

void count(Call call, std::uint64_t message_bytes, std::uint64_t bytes, std::uint32_t who,
           std::uint64_t ticks) {
  const unsigned of_size = size_class(message_bytes);
  Entry* entry = entry_of(key_of(call, of_size, who), kEntriesWithPeers);
  if (entry == nullptr) entry = entry_of(key_of(call, of_size, kAnybody), kMostEntries);
  if (entry == nullptr) {
    add(header()->lost_calls, 1);
    add(header()->lost_ticks, ticks);
    return;
  }
  add(entry->count, 1);
  if (bytes != 0) add(entry->bytes, bytes);
  add(entry->ticks, ticks);
}

std::uint32_t add_group(std::uint32_t size, const std::uint32_t* members) {
  const std::uint64_t digest = digest_of(size, members);
  const Lock lock(groups_lock);
  std::uint32_t& used = header()->group_count;
  for (std::uint32_t i = 0; i < used; ++i) {
    if (groups[i].size == size && groups[i].digest == digest) return i;
  }
  if (used == kMostGroups - 1) return kMostGroups - 1;
  Group& group = groups[used];
  group.size = size;
  group.digest = digest;
  group.listed = size < kMembersShown ? size : kMembersShown;
  for (std::uint32_t i = 0; i < group.listed; ++i) group.members[i] = members[i];
  return used++;
}

bool open_file(const char* folder, const Header& about, bool speaks) {
  void* const mapped = folder == nullptr ? mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                         : map_file(folder, about, speaks);
  if (mapped == MAP_FAILED) return false;
  file = static_cast<char*>(mapped);
  groups = reinterpret_cast<Group*>(file + sizeof(Header) + kNamesBytes);
  entries = reinterpret_cast<Entry*>(file + kEntriesAt);
  std::memcpy(file + sizeof(Header), kNames.data(), kNamesBytes);
  *header() = about;
  header()->magic = kMagic;
  header()->header_bytes = sizeof(Header);
  header()->call_count = kCallCount;
  header()->group_limit = kMostGroups;
  header()->entry_limit = kMostEntries;
  is_open = true;
  is_counting.store(true);
  return true;
}

void stop_counting() {
  if (is_counting.exchange(false)) paused_tick = now_ticks();
}

void go_on() {
  if (!is_open || is_counting.load()) return;
  header()->paused_ticks += now_ticks() - paused_tick;
  is_counting.store(true);
}

void restart() {
  if (!is_open) return;
  go_on();
  std::memset(entries, 0, kMostEntries * sizeof(Entry));
  for (auto& place : places) place.store(0);
  header()->entry_count = 0;
  header()->lost_calls = header()->lost_ticks = header()->failed_calls = 0;
  header()->paused_ticks = 0;
  header()->begin_tick = header()->last_tick = now_ticks();
}

void close_file(State state) {
  if (!is_open) return;
  is_open = false;
  header()->last_tick = is_counting.exchange(false) ? now_ticks() : paused_tick;
  header()->state = static_cast<std::uint32_t>(state);
  // A thread that is in a call still may add to an entry that is there, and to none that is not.
  if (!has_threads && descriptor >= 0 &&
      ftruncate(descriptor, static_cast<off_t>(image_bytes())) != 0)
    return;
}

void forget_file() {
  is_open = false;
  is_counting.store(false);
}

}  // namespace fabriscope::profile
