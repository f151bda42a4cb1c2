// What arrived of the streams of all receivers, at rank 0: each receiver knows its own alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "arrivals.h"
#include "fabriscope/error.h"
#include "fabriscope/payload.h"
#include "fabriscope/rendezvous.h"

namespace fabriscope {

class StreamAccounts {
 public:
  StreamAccounts() = default;
  // Of one receiver's burst: its streams in the order of their ranks.
  StreamAccounts(const Arrivals& arrivals, const std::vector<PairTraffic>& traffic,
                 std::size_t operation_count)
      : traffic_(traffic) {
    for (std::size_t operation = 0; operation < operation_count; ++operation) {
      arrived_bytes_.push_back(arrivals.of_operation(operation));
    }
  }

  // At every receiver; the ranks that send gather nothing. Rank 0 has the streams of all of them
  // then, in the order of the ranks that send.
  void collect(Rendezvous& rendezvous) {
    const std::vector<std::string> texts = rendezvous.gather(packed());
    for (std::size_t rank = 1; rank < texts.size(); ++rank) append(texts[rank]);
  }

  const std::vector<PairTraffic>& traffic() const { return traffic_; }
  // Of each stream the bytes of each interval, and what came after them.
  std::vector<std::vector<std::int64_t>> of_operation(std::size_t operation) const {
    return operation < arrived_bytes_.size() ? arrived_bytes_[operation]
                                             : std::vector<std::vector<std::int64_t>>{};
  }

 private:
  static constexpr std::size_t kTrafficNumbers = 4;

  // Stream by stream: its traffic, then each operation's intervals.
  std::string packed() const {
    std::vector<std::int64_t> all;
    for (std::size_t stream = 0; stream < traffic_.size(); ++stream) {
      const PairTraffic& one = traffic_[stream];
      for (const std::int64_t number :
           {one.there.bytes, one.there.messages, one.back.bytes, one.back.messages}) {
        all.push_back(number);
      }
      for (const auto& operation : arrived_bytes_) {
        all.insert(all.end(), operation[stream].begin(), operation[stream].end());
      }
    }
    return {reinterpret_cast<const char*>(all.data()), all.size() * sizeof(std::int64_t)};
  }

  void append(const std::string& text) {
    if (text.empty()) return;  // of a rank that sends
    std::vector<std::int64_t> all(text.size() / sizeof(std::int64_t));
    std::memcpy(all.data(), text.data(), all.size() * sizeof(std::int64_t));
    const std::size_t width = arrived_bytes_.front().front().size();
    const std::size_t of_stream = kTrafficNumbers + arrived_bytes_.size() * width;
    if (all.size() % of_stream != 0) {
      throw RunError("a rank sent an account of its streams that is not one");
    }
    for (auto at = all.begin(); at != all.end();) {
      traffic_.push_back({{at[0], at[1]}, {at[2], at[3]}});
      at += kTrafficNumbers;
      for (auto& operation : arrived_bytes_) {
        operation.emplace_back(at, at + static_cast<std::ptrdiff_t>(width));
        at += static_cast<std::ptrdiff_t>(width);
      }
    }
  }

  std::vector<PairTraffic> traffic_;
  std::vector<std::vector<std::vector<std::int64_t>>>
      arrived_bytes_;  // operation, stream, interval
};

}  // namespace fabriscope
