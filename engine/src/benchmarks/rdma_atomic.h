// RDMA atomics on 8 bytes of rank 1's memory, until rank 0 has what stood there.
#pragma once

#include <cstring>

#include "rdma.h"

namespace fabriscope {

class RdmaAtomic : public Rdma {
 public:
  enum class Kind { kFetchAdd, kFetchAddWindow, kCompareSwap };
  explicit RdmaAtomic(Kind kind) : kind_(kind) {}

  void run(const BenchmarkContext& context, BurstTimer& timer) override {
    if (context.rank > context.peer) {
      timer.run([] {});
      return;
    }
    RemoteMemory& remote = aimed(context);
    auto* found = reinterpret_cast<std::uint64_t*>(context.send_buffer);
    if (kind_ != Kind::kCompareSwap) {
      const std::size_t count = kind_ == Kind::kFetchAddWindow ? context.window_size : 1;
      timer.run([&remote, found, count] {
        for (std::size_t i = 0; i < count; ++i) remote.fetch_add(found, 1);
        remote.flush();
      });
    } else {
      // With what was found before: so all but the first of a burst succeed.
      std::uint64_t expected = 0;
      timer.run([&remote, found, &expected] {
        remote.compare_swap(found, expected, expected + 1);
        remote.flush();
        expected = *found == expected ? expected + 1 : *found;
      });
    }
  }

  void verify(const BenchmarkContext& context, PayloadCheck& check) override {
    Endpoint& endpoint = *context.endpoint;
    RemoteMemory& remote = aimed(context);
    auto* found = reinterpret_cast<std::uint64_t*>(context.send_buffer);
    auto* word = reinterpret_cast<volatile std::uint64_t*>(context.receive_buffer);
    const bool first = context.rank < context.peer;
    for (const bool works : {first, !first}) {
      if (!works) *word = kStart;
      works ? hear(endpoint) : tell(endpoint);
      if (works) work(remote, found, check);
      works ? tell(endpoint) : hear(endpoint);
      if (!works) require(*word, kStart + kNumber, "what stands there in the end", check);
    }
  }

 protected:
  std::string refusal(const BenchmarkContext& context, const RemoteMemory& remote) const override {
    if (!remote.has_atomics()) return "this device has no atomics";
    if (context.message_size_bytes != sizeof(std::uint64_t)) {
      return "an atomic works on 8 bytes, and on no message of " +
             std::to_string(context.message_size_bytes);
    }
    return {};
  }

 private:
  static constexpr std::uint64_t kStart = 0x0123456789abcdefU;
  static constexpr std::uint64_t kNumber = 0x1020304050607080U;

  static void require(std::uint64_t is, std::uint64_t should_be, const char* what,
                      PayloadCheck& check) {
    if (is != should_be) {
      check.note(std::string(what) + " is " + std::to_string(is) + ", not " +
                 std::to_string(should_be));
    }
  }

  // Comes to kStart + kNumber at the other rank.
  void work(RemoteMemory& remote, std::uint64_t* found, PayloadCheck& check) const {
    *found = 0;
    if (kind_ != Kind::kCompareSwap) {
      remote.fetch_add(found, kNumber);
      remote.flush();
      require(*found, kStart, "what fetch_add found", check);
      return;
    }
    remote.compare_swap(found, kStart + 1, kNumber);  // which must not succeed
    remote.flush();
    require(*found, kStart, "what the first compare_swap found", check);
    *found = 0;
    remote.compare_swap(found, kStart, kStart + kNumber);
    remote.flush();
    require(*found, kStart, "what the second compare_swap found", check);
  }

  Kind kind_;
};

}  // namespace fabriscope
