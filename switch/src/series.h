// What the ports count over time: how full a buffer was, and what was sent, lost, marked and paused
// meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iosfwd>
#include <vector>

namespace fabriscope::lab {

// Of one port, or of a cable between switches in one direction, from the switch's start on;
// `queue_bytes` is the most since the last look.
struct PortTotals {
  std::int64_t queue_bytes = 0;
  std::int64_t wire_bytes = 0;  // delivered
  std::int64_t frames = 0;      // likewise
  std::int64_t dropped_frames = 0;
  std::int64_t marked_frames = 0;
  std::int64_t pauses = 0;  // of the host; of a cable, of who sends there
  std::int64_t paused_ns = 0;
};

class Series {
 public:
  static constexpr std::int64_t kPeriodNs = 10'000'000;

  Series(std::size_t port_count, std::int64_t now_ns) : before_(port_count), since_ns_(now_ns) {}

  // Keeps by how much the totals of a port grew from `began_ns` to `now_ns`; returns whether
  // anything did.
  bool add(std::int64_t began_ns, std::int64_t now_ns, std::size_t port, const PortTotals& totals);

  // Forgets everything: the ports count from nothing again.
  void reset(std::int64_t now_ns);

  // From when on nothing is missing: only so much is kept.
  std::int64_t since_ns() const { return since_ns_; }

  // Writes members of a JSON object, a list each: the ends of periods in which something happened
  // at `port` after `since_ns`, moved by `offset_ns`, how long they were, and what it was.
  void write(std::ostream& json, std::size_t port, std::int64_t since_ns,
             std::int64_t offset_ns) const;

 private:
  struct Sample {
    std::int64_t at_ns;
    std::int64_t length_ns;
    std::size_t port;
    PortTotals grown;
  };

  std::deque<Sample> samples_;
  std::vector<PortTotals> before_;
  std::int64_t since_ns_;
};

}  // namespace fabriscope::lab
