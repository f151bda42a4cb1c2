// What an incast does to a bystander: ranks 0 and 1 exchange messages as in a benchmark of two
// ranks, and with `congestion=incast` rank 2 receives from all ranks above it meanwhile.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bandwidth.h"
#include "fabriscope/error.h"
#include "incast_load.h"
#include "ping_pong.h"

namespace fabriscope {
namespace {

constexpr char kCongestion[] = "congestion";
constexpr char kIncastSize[] = "incast_size_bytes";
constexpr std::size_t kUsualIncastBytes = 65'536;
constexpr std::size_t kMostIncastBytes = std::size_t{16} << 20U;
// Each burst waits for the incast to be under way, and for what is left of it.
constexpr std::int64_t kLeastBurstNs = 100'000'000;

std::size_t incast_size_of(const Parameters& parameters) {
  const std::string text = parameter_or(parameters, kIncastSize, std::to_string(kUsualIncastBytes));
  const bool is_number =
      !text.empty() && text.size() < 9 && text.find_first_not_of("0123456789") == std::string::npos;
  const std::size_t bytes = is_number ? std::stoull(text) : 0;
  if (bytes < 1 || bytes > kMostIncastBytes) {
    throw CaseError("incast_size_bytes is '" + text + "', not 1 to " +
                    std::to_string(kMostIncastBytes));
  }
  return bytes;
}

class Victim : public Benchmark {
 public:
  explicit Victim(std::unique_ptr<Benchmark> own) : own_(std::move(own)) {}
  Victim(const Victim&) = delete;
  Victim& operator=(const Victim&) = delete;
  ~Victim() override {
    for (Endpoint* endpoint : users_) endpoint->release_memory(memory_.data());
  }

  Pattern pattern() const override { return Pattern::kBeside; }
  std::vector<std::string> parameter_names() const override { return {kCongestion, kIncastSize}; }
  bool reads_payload() const override { return true; }
  bool counts_its_traffic() const override { return true; }
  std::int64_t least_burst_ns() const override { return kLeastBurstNs; }
  std::size_t request_count(std::size_t window_size) const override {
    return std::max(window_size, kIncastWindow) + 1;
  }

  // The memory of the incast's messages is this benchmark's own: their size is not the case's.
  void prepare(const BenchmarkContext& context) override {
    const std::string congestion = parameter_or(context.parameters, kCongestion, "incast");
    if (congestion != "incast" && congestion != "none") {
      throw CaseError("congestion is '" + congestion + "', not incast or none");
    }
    has_incast_ = congestion == "incast";
    incast_size_bytes_ = incast_size_of(context.parameters);
    if (!has_incast_ || context.rank < kReceiver) return;
    memory_.assign(incast_size_bytes_, 0);
    for (Endpoint* endpoint : context.endpoints) {
      endpoint->use_memory(memory_.data(), memory_.size());
      users_.push_back(endpoint);
    }
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    std::int64_t window_count = 0;
    if (context.rank == 0) {
      measure(context, timer);
    } else if (context.rank < kReceiver) {
      own_->run(context, timer);
    } else if (has_incast_ && context.rank == kReceiver) {
      const std::vector<Endpoint*> senders(context.endpoints.begin() + 1, context.endpoints.end());
      IncastReceiver(*context.endpoint, senders, memory_.data(), incast_size_bytes_).run();
    } else if (has_incast_) {
      window_count = answer_incast(*context.endpoint, memory_.data(), incast_size_bytes_);
    }
    if (has_incast_) count_incast(context.rendezvous.gather(std::to_string(window_count)));
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    own_->verify(context, check);
  }

  std::vector<PairTraffic> counted_traffic() const override { return traffic_; }

 private:
  static constexpr int kReceiver = 2;

  // Rank 0: the incast is under way before the first operation begins, and after the last.
  void measure(const BenchmarkContext& context, BurstTimer& timer) {
    traffic_.assign(1, own_traffic(context, timer.operation_count()));
    if (!has_incast_) return own_->run(context, timer);
    Endpoint& conductor = *context.endpoints[1];
    unsigned char word[kWordBytes] = {};
    conductor.expect(word, kWordBytes, 1);
    conductor.recv(word, kWordBytes);
    own_->run(context, timer);
    conductor.send(word, kWordBytes);
    const Traffic one{static_cast<std::int64_t>(kWordBytes), 1};
    traffic_.push_back({one, one});
  }

  PairTraffic own_traffic(const BenchmarkContext& context, std::int64_t operation_count) const {
    const auto one = own_->operation_traffic(context.message_size_bytes, context.window_size)
                         .value_or(PairTraffic{});
    return {{one.there.bytes * operation_count, one.there.messages * operation_count},
            {one.back.bytes * operation_count, one.back.messages * operation_count}};
  }

  // At rank 0 alone: how many windows each rank sent.
  void count_incast(const std::vector<std::string>& window_counts) {
    for (std::size_t rank = kReceiver + 1; rank < window_counts.size(); ++rank) {
      const std::int64_t windows = std::stoll(window_counts[rank]);
      const std::int64_t messages = windows * static_cast<std::int64_t>(kIncastWindow);
      traffic_.push_back({{(windows + 1) * static_cast<std::int64_t>(kWordBytes), windows + 1},
                          {messages * static_cast<std::int64_t>(incast_size_bytes_), messages}});
    }
  }

  std::unique_ptr<Benchmark> own_;
  bool has_incast_ = false;
  std::size_t incast_size_bytes_ = kUsualIncastBytes;
  std::vector<unsigned char> memory_;
  std::vector<Endpoint*> users_;
  std::vector<PairTraffic> traffic_;
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "victim_latency", [] {
  return std::make_unique<fabriscope::Victim>(std::make_unique<fabriscope::PingPong>());
})
FABRISCOPE_REGISTER(benchmark_registry, "victim_bandwidth", [] {
  return std::make_unique<fabriscope::Victim>(std::make_unique<fabriscope::Bandwidth>());
})
