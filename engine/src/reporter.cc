#include "reporter.h"

#include <fstream>
#include <numeric>
#include <string>
#include <utility>

namespace fabriscope {
namespace {

using Lock = std::lock_guard<std::mutex>;

// VmHWM begins anew with exec(); the peak that getrusage() tells would be our parent's, if that was
// larger.
std::int64_t peak_rss_bytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "VmHWM:") continue;
    std::int64_t kibibytes = 0;
    status >> kibibytes;
    return kibibytes * 1024;
  }
  return 0;
}

}  // namespace

void Reporter::line(const JsonObject& object) {
  const Lock lock(mutex_);
  stream_.line(object);
}

void Reporter::failure(const std::optional<std::string>& case_id, const std::string& reason) {
  const Lock lock(mutex_);
  write_failure(case_id, reason);
}

void Reporter::write_failure(const std::optional<std::string>& case_id, const std::string& reason) {
  ++failure_count_;
  JsonObject object;
  object.add("type", "failure");
  if (case_id) {
    object.add("case", *case_id);
  } else {
    object.add_null("case");
  }
  stream_.line(object.add("reason", reason));
}

void Reporter::begin(std::vector<CaseLabel> labels, const Clock& clock, std::int64_t memory_bytes) {
  const Lock lock(mutex_);
  labels_ = std::move(labels);
  clock_ = clock;
  store_.emplace(memory_bytes);
  measuring_since_ns_ = clock.elapsed_ns();
}

std::int64_t Reporter::sample_capacity() {
  const Lock lock(mutex_);
  return store_->sample_capacity();
}

std::int64_t* Reporter::reserve(std::int64_t sample_count) {
  const Lock lock(mutex_);
  if (!store_->has_room(sample_count)) write_kept();
  return store_->tail();
}

void Reporter::commit(const Burst& burst) {
  const Lock lock(mutex_);
  std::int64_t* samples = store_->tail();
  for (std::int64_t i = 0; i < burst.plan.sample_count(); ++i) {
    samples[i] = clock_->to_ns(samples[i]);
  }
  store_->commit(burst);
  ++burst_count_;
}

void Reporter::commit(const std::vector<JsonObject>& lines) {
  const Lock lock(mutex_);
  write_kept();
  for (const JsonObject& object : lines) stream_.line(object);
  ++burst_count_;
}

void Reporter::end_round() {
  const Lock lock(mutex_);
  ++round_count_;
  write_kept();
}

void Reporter::set_rejected_connection_count(std::int64_t count) {
  const Lock lock(mutex_);
  rejected_connection_count_ = count;
}

void Reporter::set_traffic(std::string bytes, std::int64_t message_count) {
  const Lock lock(mutex_);
  sent_bytes_ = std::move(bytes);
  sent_message_count_ = message_count;
}

void Reporter::finish(const std::string& status, const std::optional<std::string>& case_id,
                      const std::string& failure_reason) {
  const Lock lock(mutex_);
  if (finished_) return;
  finished_ = true;
  write_kept();
  if (!failure_reason.empty()) write_failure(case_id, failure_reason);
  write_footer(status);
}

void Reporter::write_kept() {
  if (!store_) return;
  const std::int64_t* samples = store_->samples();
  for (const Burst& burst : store_->bursts()) {
    const BurstPlan& plan = burst.plan;
    write_block(burst, "warmup", samples, plan.warmup_sample_count, burst.start_ns);
    const std::int64_t* measured = samples + plan.warmup_sample_count;
    const std::int64_t warmup_ns = std::accumulate(samples, measured, std::int64_t{0});
    write_block(burst, "measured", measured, plan.measured_sample_count,
                burst.start_ns + warmup_ns);
    samples += plan.sample_count();
  }
  store_->clear();
  stream_.flush();
}

void Reporter::write_block(const Burst& burst, const char* phase, const std::int64_t* samples,
                           std::int64_t count, std::int64_t start_ns) {
  if (count == 0) return;
  const CaseLabel& label = labels_[burst.case_index];
  JsonObject head;
  head.add("type", "block")
      .add("case", std::string_view(label.id))
      .add("round", burst.round)
      .add("burst", burst.number)
      .add("phase", phase)
      .add("start_ns", start_ns)
      .add("operations_per_sample", burst.plan.operations_per_sample);
  if (!label.timing.empty()) head.add("timing", std::string_view(label.timing));
  stream_.line_with_integers(head, "durations_ns", samples, count);
}

void Reporter::write_footer(const std::string& status) {
  JsonObject object;
  object.add("type", "footer")
      .add("status", status)
      .add("round_count", round_count_)
      .add("burst_count", burst_count_)
      .add("failure_count", failure_count_)
      .add("elapsed_ns", clock_ ? clock_->elapsed_ns() - measuring_since_ns_ : 0)
      .add("peak_sample_bytes", store_ ? store_->peak_bytes() : 0)
      .add("peak_rss_bytes", peak_rss_bytes())
      .add("rejected_connection_count", rejected_connection_count_);
  if (clock_) object.add("clock_drift_ppm", clock_->drift_ppm());
  if (sent_bytes_) {
    object.add_raw("sent_payload_bytes", *sent_bytes_).add("sent_messages", sent_message_count_);
  }
  stream_.line(object);
}

}  // namespace fabriscope
