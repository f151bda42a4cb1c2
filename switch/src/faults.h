// What is wrong with one port on purpose: frames that are lost or come late, a link that is down.
#pragma once

#include <cstdint>
#include <random>

namespace fabriscope::lab {

constexpr std::int64_t kPartsPerBillion = 1'000'000'000;

struct Faults {
  std::int64_t loss_ppb = 0;     // chance of each frame to be lost on its way to the host, in 10^-9
  std::int64_t drop_every = 0;   // one frame to the host in this many is lost; 0: none
  std::int64_t reorder_ppb = 0;  // chance of each frame to wait aside before it is queued, in 10^-9
  std::int64_t reorder_delay_ns = 0;  // how long it waits
  std::int64_t flap_period_ns = 0;    // the link is down at the end of every such period; 0: never
  std::int64_t flap_down_ns = 0;      // how long it is down
  bool is_down = false;               // until it is told otherwise
};

// Decides for one port. Equal seeds give equal decisions for equal frames.
class PortFaults {
 public:
  explicit PortFaults(std::uint64_t seed) : chance_(seed) {}

  // Counting and flapping begin anew at `now_ns`.
  void set(const Faults& faults, std::int64_t now_ns) {
    faults_ = faults;
    since_ns_ = now_ns;
    frames_ = 0;
  }
  const Faults& settings() const { return faults_; }

  // Decides whether the next frame is lost.
  bool loses() {
    const bool is_counted_out = faults_.drop_every > 0 && ++frames_ % faults_.drop_every == 0;
    return happens(faults_.loss_ppb) || is_counted_out;
  }

  // Decides whether the next frame waits aside.
  bool reorders() { return happens(faults_.reorder_ppb); }

  // Says whether the link is down at a moment; each period begins with the link up.
  bool is_down(std::int64_t at_ns) const {
    if (faults_.is_down) return true;
    if (faults_.flap_period_ns == 0 || at_ns < since_ns_) return false;
    const std::int64_t into_ns = (at_ns - since_ns_) % faults_.flap_period_ns;
    return into_ns >= faults_.flap_period_ns - faults_.flap_down_ns;
  }

 private:
  bool happens(std::int64_t parts) {
    return parts > 0 && static_cast<std::int64_t>(chance_() % kPartsPerBillion) < parts;
  }

  Faults faults_;
  std::int64_t since_ns_ = 0;
  std::int64_t frames_ = 0;
  std::mt19937_64 chance_;
};

}  // namespace fabriscope::lab
