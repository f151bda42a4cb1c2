// Many to one for a fixed time: every other rank sends to rank 0, all from one instant of the
// common clock on, and rank 0 writes down how many bytes of each stream had arrived at which time.
// Many to many is the same to several ranks at once: with `receivers=n` the ranks 0 to n - 1
// receive, each from an equal share of the others.
//
// `mode=streams`: each sender sends as fast as it can. `mode=rounds`: rank 0 asks all of them at
// once, each answers by a window of messages, and the next round begins when all have arrived.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "arrivals.h"
#include "fabriscope/benchmark.h"
#include "fabriscope/clock.h"
#include "fabriscope/error.h"
#include "stream_accounts.h"

namespace fabriscope {
namespace {

constexpr char kMode[] = "mode";
constexpr char kDuration[] = "duration_ms";
constexpr char kReceiverCount[] = "receivers";  // src/session_cases.cc: who sends to whom
constexpr std::int64_t kUsualDurationMs = 300;
constexpr std::int64_t kLongestMs = 600'000;
constexpr std::size_t kQuestionBytes = 4;

// What a receiver is ready for ahead of the message that it waits for: a window, so that over RDMA
// no message finds its receiver not ready, as far as this many bytes of a stream go. Of long
// messages two are enough: while one is read the next one fills.
constexpr std::size_t kLeastPlaces = 2;
constexpr std::size_t kMostPlaces = 64;
constexpr std::size_t kReadyBytes = 64 << 10;

std::size_t most_places(std::size_t message_size_bytes) {
  return std::clamp(kReadyBytes / std::max<std::size_t>(message_size_bytes, 1), kLeastPlaces,
                    kMostPlaces);
}

// The first byte of a message of a free stream: more will come, or so many that end the operation.
constexpr unsigned char kMore = 0;
constexpr unsigned char kLast = 1;

std::int64_t duration_of(const Parameters& parameters) {
  const std::string text = parameter_or(parameters, kDuration, std::to_string(kUsualDurationMs));
  const bool is_number =
      !text.empty() && text.size() < 7 && text.find_first_not_of("0123456789") == std::string::npos;
  const std::int64_t duration_ms = is_number ? std::stoll(text) : 0;
  if (duration_ms < 1 || duration_ms > kLongestMs) {
    throw CaseError("duration_ms is '" + text + "', not 1 to " + std::to_string(kLongestMs));
  }
  return duration_ms * 1'000'000;
}

class ManyToOne : public Benchmark {
 public:
  Pattern pattern() const override { return Pattern::kStar; }
  std::vector<Timing> timing_kinds() const override { return {Timing::kCommonClock}; }
  std::vector<std::string> parameter_names() const override {
    return {kMode, kDuration, kReceiverCount};
  }
  bool reads_payload() const override { return true; }
  bool fills_a_burst() const override { return true; }
  bool counts_its_traffic() const override { return true; }
  std::size_t request_count(std::size_t window_size) const override { return window_size + 1; }
  // At a receiver each message that a sender may have under way has a place of its own: its first
  // byte says whether it is the last.
  std::size_t receive_buffer_bytes(std::size_t message_size_bytes, int /*rank_count*/,
                                   std::size_t peer_count) const override {
    return message_size_bytes * most_places(message_size_bytes) * peer_count;
  }

  void prepare(const BenchmarkContext& context) override {
    const std::string mode = parameter_or(context.parameters, kMode, "streams");
    if (mode != "streams" && mode != "rounds") {
      throw CaseError("mode is '" + mode + "', not streams or rounds");
    }
    in_rounds_ = mode == "rounds";
    duration_ns_ = duration_of(context.parameters);
    place_count_ = std::clamp(context.window_size, kLeastPlaces,  //
                              most_places(context.message_size_bytes));
  }

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    const auto operation_count = static_cast<std::size_t>(timer.operation_count());
    if (context.rank > context.peer) {
      timer.leave_watch();  // also when it has ended: what a kernel has taken is still under way
      in_rounds_ ? answer(context, timer) : stream(context, timer);
      context.rendezvous.gather({});
      return;
    }
    arrivals_ = Arrivals(context.endpoints, operation_count, duration_ns_, timer);
    sees_parts_ = arrivals_.sees_parts() ? 1 : 0;
    traffic_.assign(context.endpoints.size(), PairTraffic{});
    in_rounds_ ? ask(context, timer) : gather(context, timer);
    if (parameter_or(context.parameters, kReceiverCount, "1") != "1") timer.leave_watch();
    accounts_ = StreamAccounts(arrivals_, traffic_, operation_count);
    accounts_.collect(context.rendezvous);
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    const bool receives = context.rank < context.peer;
    check.window(context.message_size_bytes, context.window_size, receives, !receives);
    check.window(context.message_size_bytes, context.window_size, !receives, receives);
  }

  Fields details() const override {
    return {{"duration_ns", duration_ns_},
            {"interval_ns", arrivals_.interval_ns()},
            {"sees_parts", sees_parts_}};
  }
  std::vector<PairTraffic> counted_traffic() const override { return accounts_.traffic(); }
  std::vector<std::vector<std::int64_t>> arrived_bytes(std::size_t operation) const override {
    return accounts_.of_operation(operation);
  }

 private:
  struct Stream {
    Endpoint* endpoint;
    unsigned char* places;
    std::size_t next = 0;   // message of the burst
    std::size_t ahead = 0;  // that a receive is expected for
    bool is_ending = false;
    bool is_open = false;
  };

  unsigned char* place(const Stream& stream, std::size_t message, std::size_t size_bytes) const {
    return stream.places + message % place_count_ * size_bytes;
  }

  std::vector<Stream> streams_of(const BenchmarkContext& context) const {
    std::vector<Stream> streams;
    for (std::size_t i = 0; i < context.endpoints.size(); ++i) {
      streams.push_back({context.endpoints[i],
                         context.receive_buffer + i * place_count_ * context.message_size_bytes});
    }
    return streams;
  }

  // ---- free streams

  // A receiver. A stream's operation ends with place_count_ messages that say so: as many as it had
  // been made ready for, so that nothing of this case is expected when another one has its turn.
  void gather(const BenchmarkContext& context, BurstTimer& timer) {
    const std::size_t size_bytes = context.message_size_bytes;
    std::vector<Stream> streams = streams_of(context);
    for (Stream& stream : streams) expect_all(stream, size_bytes);
    std::int64_t left = timer.operation_count();
    timer.run([&] {
      --left;
      arrivals_.begin(SteadyClock::now());
      std::size_t open_count = streams.size();
      for (Stream& stream : streams) {
        stream.is_open = true;
        stream.is_ending = false;
        post(stream, size_bytes);
      }
      timer.give_way();
      arrivals_.wait(
          [&](std::size_t i) {
            Stream& stream = streams[i];
            if (!stream.is_open || !take(stream, i, size_bytes)) return false;
            if (stream.is_ending && stream.ahead == stream.next) {
              stream.is_open = false;
              --open_count;
              arrivals_.close(i);
            } else {
              post(stream, size_bytes);
            }
            return true;
          },
          [&] { return open_count == 0; });
      if (left > 0) {
        for (Stream& stream : streams) expect_all(stream, size_bytes);
      }
    });
  }

  void expect_all(Stream& stream, std::size_t size_bytes) {
    for (std::size_t i = 0; i < place_count_; ++i) {
      stream.endpoint->expect(place(stream, stream.ahead++, size_bytes), size_bytes, 1);
    }
  }
  void post(Stream& stream, std::size_t size_bytes) {
    stream.endpoint->post_recv(place(stream, stream.next, size_bytes), size_bytes);
  }

  // Whether the message that was waited for has come.
  bool take(Stream& stream, std::size_t index, std::size_t size_bytes) {
    if (!arrivals_.come_further(index)) return false;
    if (*place(stream, stream.next++, size_bytes) == kLast) stream.is_ending = true;
    arrivals_.add_message(index, size_bytes);
    traffic_[index].back += {static_cast<std::int64_t>(size_bytes), 1};
    if (!stream.is_ending) {
      stream.endpoint->expect(place(stream, stream.ahead++, size_bytes), size_bytes, 1);
    }
    return true;
  }

  void stream(const BenchmarkContext& context, BurstTimer& timer) {
    Endpoint& endpoint = *context.endpoint;
    const std::size_t size_bytes = context.message_size_bytes;
    unsigned char* out = context.send_buffer;
    timer.run([&] {
      const std::int64_t end_ns = SteadyClock::now() + duration_ns_;
      *out = kMore;
      endpoint.post_send(out, size_bytes);
      endpoint.test_all();  // a transport may send only when it is asked
      timer.give_way();
      std::size_t posted = 1;
      do {
        for (; posted < context.window_size; ++posted) endpoint.post_send(out, size_bytes);
        endpoint.wait_all();
        posted = 0;
      } while (SteadyClock::now() < end_ns);
      *out = kLast;
      for (std::size_t i = 0; i < place_count_; ++i) endpoint.send(out, size_bytes);
    });
  }

  // ---- rounds

  void ask(const BenchmarkContext& context, BurstTimer& timer) {
    std::vector<Stream> streams = streams_of(context);
    unsigned char question[kQuestionBytes] = {};
    timer.run([&] {
      const std::int64_t begin_ns = SteadyClock::now();
      arrivals_.begin(begin_ns);
      question[0] = kMore;
      do {
        ask_once(streams, question, context.message_size_bytes, context.window_size);
      } while (SteadyClock::now() < begin_ns + duration_ns_);
      question[0] = kLast;
      tell_all(streams, question);
    });
  }

  void ask_once(std::vector<Stream>& streams, const unsigned char* question, std::size_t size_bytes,
                std::size_t window_size) {
    for (Stream& stream : streams) {
      for (std::size_t i = 0; i < window_size; ++i) {
        stream.endpoint->post_recv(stream.places, size_bytes);
      }
      stream.is_open = true;
    }
    arrivals_.begin_round(SteadyClock::now());
    tell_all(streams, question);
    std::size_t open_count = streams.size();
    arrivals_.wait(
        [&](std::size_t i) {
          if (!streams[i].is_open || !arrivals_.come_further(i)) return false;
          streams[i].is_open = false;
          --open_count;
          arrivals_.close(i);
          arrivals_.add_message(i, size_bytes * window_size);
          const auto count = static_cast<std::int64_t>(window_size);
          traffic_[i].back += {static_cast<std::int64_t>(size_bytes) * count, count};
          return true;
        },
        [&] { return open_count == 0; });
  }

  void tell_all(std::vector<Stream>& streams, const unsigned char* question) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      streams[i].endpoint->send(question, kQuestionBytes);
      traffic_[i].there += {static_cast<std::int64_t>(kQuestionBytes), 1};
    }
  }

  static void answer(const BenchmarkContext& context, BurstTimer& timer) {
    Endpoint& endpoint = *context.endpoint;
    const std::size_t size_bytes = context.message_size_bytes;
    const std::size_t window_size = context.window_size;
    unsigned char question[kQuestionBytes] = {};
    timer.run([&] {
      for (;;) {
        endpoint.recv(question, kQuestionBytes);
        if (question[0] == kLast) return;
        for (std::size_t i = 0; i < window_size; ++i) {
          endpoint.post_send(context.send_buffer, size_bytes);
        }
        endpoint.wait_all();
      }
    });
  }

  bool in_rounds_ = false;
  std::int64_t duration_ns_ = kUsualDurationMs * 1'000'000;
  std::size_t place_count_ = kLeastPlaces;
  Arrivals arrivals_;
  std::int64_t sees_parts_ = 0;
  std::vector<PairTraffic> traffic_;
  StreamAccounts accounts_;
};

}  // namespace
}  // namespace fabriscope

FABRISCOPE_REGISTER(benchmark_registry, "many_to_one",
                    [] { return std::make_unique<fabriscope::ManyToOne>(); })
FABRISCOPE_REGISTER(benchmark_registry, "many_to_many",
                    [] { return std::make_unique<fabriscope::ManyToOne>(); })
