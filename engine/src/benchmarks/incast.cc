// Synchronised many-to-one: rank 0 asks all others at once, each answers by a window of messages,
// and the next round begins when all have arrived. What a striped read of a file system and a
// shuffle do to the one link that all answers share.
#include "await_all.h"
#include "fabriscope/benchmark.h"

namespace fabriscope {
namespace {

class Incast : public Benchmark {
 public:
  Pattern pattern() const override { return Pattern::kStar; }
  std::size_t request_count(std::size_t window_size) const override { return window_size; }
  // Every sender's messages have a place of their own at rank 0, and nowhere else: the memory of
  // all ranks together grows with their number and not with its square.
  std::size_t receive_buffer_bytes(std::size_t message_size_bytes, int /*rank_count*/,
                                   std::size_t peer_count) const override {
    return message_size_bytes * peer_count;
  }

  std::optional<PairTraffic> operation_traffic(std::size_t message_size_bytes,
                                               std::size_t window_size) const override {
    const auto count = static_cast<std::int64_t>(window_size);
    return PairTraffic{{kQuestionBytes, 1},
                       {static_cast<std::int64_t>(message_size_bytes) * count, count}};
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    if (context.rank < context.peer) {
      ask(context, timer);
    } else {
      answer(context, timer);
    }
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    const bool asks = context.rank < context.peer;
    check.window(context.message_size_bytes, context.window_size, asks, !asks);
    check.window(context.message_size_bytes, context.window_size, !asks, asks);
  }

 private:
  static constexpr std::size_t kQuestionBytes = 4;

  static void ask(const BenchmarkContext& context, BurstTimer& timer) {
    const std::vector<Endpoint*>& senders = context.endpoints;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    unsigned char* in = context.receive_buffer;
    const unsigned char question[kQuestionBytes] = {};
    AwaitAll answers(senders);
    timer.run([&senders, &answers, &question, size_bytes, window_size, in] {
      for (std::size_t sender = 0; sender < senders.size(); ++sender) {
        for (std::size_t i = 0; i < window_size; ++i) {
          senders[sender]->post_recv(in + sender * size_bytes, size_bytes);
        }
      }
      for (Endpoint* sender : senders) sender->send(question, kQuestionBytes);
      answers.wait();
    });
  }

  static void answer(const BenchmarkContext& context, BurstTimer& timer) {
    Endpoint& endpoint = *context.endpoint;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    const unsigned char* out = context.send_buffer;
    unsigned char question[kQuestionBytes] = {};
    // The next question, before the answer to this one brings it.
    std::int64_t left = timer.operation_count();
    endpoint.expect(question, kQuestionBytes, 1);
    timer.run([&endpoint, &question, &left, size_bytes, window_size, out] {
      endpoint.recv(question, kQuestionBytes);
      if (--left > 0) endpoint.expect(question, kQuestionBytes, 1);
      for (std::size_t i = 0; i < window_size; ++i) endpoint.post_send(out, size_bytes);
      endpoint.wait_all();
    });
  }
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "incast",
                    [] { return std::make_unique<fabriscope::Incast>(); })
