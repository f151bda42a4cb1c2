// What one look of the lab's switch at all of its ports costs, in ns: argv[1] ports, of which
// something happened at each; prints the mean of many looks.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "fabric.h"
#include "series.h"

int main(int count, char** words) {
  using fabriscope::lab::PortTotals;
  const std::size_t ports = count > 1 ? std::strtoul(words[1], nullptr, 10) : 10;
  constexpr std::int64_t kLooks = 100'000;
  fabriscope::lab::FabricSettings settings;
  settings.rate_bits_per_s = 1'000'000'000;
  fabriscope::lab::Fabric fabric(settings, ports);
  fabriscope::lab::Series series(ports, 0);
  const auto began = std::chrono::steady_clock::now();
  for (std::int64_t look = 1; look <= kLooks; ++look) {
    for (std::size_t port = 0; port < ports; ++port) {
      fabric.record_delivery(port, 1514, 0);
      const auto& counters = fabric.counters(port);
      const PortTotals totals{fabric.take_queue_maximum(port, look),
                              counters.down.wire_bytes,
                              counters.down.frames,
                              counters.dropped_frames,
                              fabric.marked_frames(port),
                              fabric.pause_count(port),
                              fabric.paused_ns(port, look)};
      series.add(look - 1, look, port, totals);
    }
  }
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - began;
  std::cout << took.count() / static_cast<double>(kLooks) << '\n';
}
