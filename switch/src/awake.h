// Keeps idle cores from sleeping while frames are on their way.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace fabriscope::lab {

// On a virtual machine a sleeping core takes some 50 us to wake up, which is more than a frame's
// whole journey. So each core gets a thread of the idle class (SCHED_IDLE): it runs where nothing
// else wants to, and gives way at once. A core that is busy anyway is left alone.
class Awake {
 public:
  // With `enabled` false it does nothing.
  explicit Awake(bool enabled);
  Awake(const Awake&) = delete;
  Awake& operator=(const Awake&) = delete;
  ~Awake();

  // Keeps cores awake until `until_ns`.
  void extend(std::int64_t until_ns, std::int64_t now_ns);

 private:
  void work(int core);
  void wake_all();

  std::atomic<std::int64_t> until_ns_{0};
  std::atomic<bool> stop_{false};
  std::atomic<std::uint32_t> calls_{0};  // a futex: changes whenever the threads are needed again
  std::vector<std::thread> threads_;
};

}  // namespace fabriscope::lab
