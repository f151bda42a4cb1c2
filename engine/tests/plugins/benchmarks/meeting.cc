// All ranks meet by the rendezvous. Refuses an odd message size in its set-up at the last rank
// alone, and finds the payload wrong where the case says so.
#include "fabriscope/benchmark.h"
#include "fabriscope/error.h"

namespace fabriscope::test {
namespace {

class Meeting : public Benchmark {
 public:
  Pattern pattern() const override { return Pattern::kGroup; }
  std::vector<std::string> parameter_names() const override { return {"spoiled"}; }
  std::size_t buffer_bytes(std::size_t message_size_bytes, int rank_count) const override {
    return message_size_bytes * static_cast<std::size_t>(rank_count);
  }

  void prepare(const BenchmarkContext& context) override {
    const bool last = context.rank == context.rank_count - 1;
    if (last && context.message_size_bytes % 2 == 1) throw CaseError("an odd size");
    const std::size_t most = buffer_bytes(context.message_size_bytes, context.rank_count);
    for (std::size_t i = 0; i < most; ++i) context.receive_buffer[i] = 1;
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    timer.run([this, &context] {
      context.rendezvous.barrier();
      ++operation_count_;
    });
  }

  std::optional<std::string> verify_group(const BenchmarkContext& context,
                                          std::uint64_t seed) override {
    const std::string text = context.rendezvous.broadcast(std::to_string(seed));
    if (text != std::to_string(seed)) return "another seed";
    const std::string spoiled = parameter_or(context.parameters, "spoiled", "-1");
    if (spoiled != std::to_string(context.rank)) return std::nullopt;
    return "spoiled on purpose";
  }

  Fields details() const override { return {{"operation_count", operation_count_}}; }

 private:
  std::int64_t operation_count_ = 0;
};

}  // namespace
}  // namespace fabriscope::test

FABRISCOPE_REGISTER(benchmark_registry, "meeting",
                    [] { return std::make_unique<fabriscope::test::Meeting>(); })
