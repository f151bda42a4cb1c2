// Rank 0's account of the run: keeps samples until they can be written without disturbing the
// measuring, and sees to it that nothing is lost when the run ends early. The watchdog may end the
// account from its own thread while the main thread hangs, so every call takes the lock.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "fabriscope/clock.h"
#include "sample_store.h"
#include "stream.h"

namespace fabriscope {

// What the blocks of a case begin with.
struct CaseLabel {
  std::string id;
  std::string timing;  // empty: as every benchmark of two ranks is timed
};

class Reporter {
 public:
  explicit Reporter(const std::string& output_path) : stream_(output_path) {}

  void line(const JsonObject& object);
  void failure(const std::optional<std::string>& case_id, const std::string& reason);

  // Before the first burst: what blocks are named after and timed with, and the sample memory.
  void begin(std::vector<CaseLabel> labels, const Clock& clock, std::int64_t memory_bytes);
  std::int64_t sample_capacity();
  // Room for a burst's samples in ticks; writes what is kept so far where there is none.
  std::int64_t* reserve(std::int64_t sample_count);
  // Keeps the burst, whose samples become nanoseconds in place.
  void commit(const Burst& burst);
  // Writes a burst that needs no keeping, for while it is written nobody measures.
  void commit(const std::vector<JsonObject>& lines);
  void end_round();
  void set_rejected_connection_count(std::int64_t count);
  // What the ranks sent to each other: bytes as a JSON object, and how many messages that were.
  void set_traffic(std::string bytes, std::int64_t message_count);

  // Writes what is kept, the failure where there is one, and the footer; all but the first call
  // do nothing.
  void finish(const std::string& status, const std::optional<std::string>& case_id = {},
              const std::string& failure_reason = {});

 private:
  void write_failure(const std::optional<std::string>& case_id, const std::string& reason);
  void write_kept();
  void write_block(const Burst& burst, const char* phase, const std::int64_t* samples,
                   std::int64_t count, std::int64_t start_ns);
  void write_footer(const std::string& status);

  std::mutex mutex_;
  StreamWriter stream_;
  std::optional<SampleStore> store_;
  std::optional<Clock> clock_;
  std::vector<CaseLabel> labels_;
  std::int64_t measuring_since_ns_ = 0;
  std::int64_t round_count_ = 0;
  std::int64_t burst_count_ = 0;
  std::int64_t failure_count_ = 0;
  std::int64_t rejected_connection_count_ = 0;
  std::optional<std::string> sent_bytes_;  // nothing where it is not known
  std::int64_t sent_message_count_ = 0;
  bool finished_ = false;
};

}  // namespace fabriscope
