// Rate, delay and buffer of a fabric that runs are changed: from then on it is as one that was
// begun so.
#include <string>
#include <vector>

#include "ask.h"
#include "bench.h"
#include "check.h"
#include "qos_bench.h"
#include "settings.h"

namespace fabriscope::lab {
namespace {

constexpr int kFrames = 30;

// Returns how many of two senders' frames reach the third host.
std::int64_t survivors(Bench& bench, std::int64_t now_ns) {
  for (int frame = 0; frame < kFrames; ++frame) {
    bench.send(1, now_ns, 1, 0);
    bench.send(2, now_ns, 2, 0);
  }
  return static_cast<std::int64_t>(bench.run().size());
}

TEST(a_buffer_is_another_one_and_back) {
  FabricSettings settings = gigabit();
  settings.buffer_bytes = 10 * kFrameBytes;
  Bench bench(settings, 3);
  bench.introduce_all();
  CHECK_EQUAL(survivors(bench, kLater), kFrames - 1 + 10);
  bench.fabric.set_cables({kGigabit, 0, 4 * kFrameBytes}, 2 * kLater);
  CHECK_EQUAL(survivors(bench, 2 * kLater), kFrames - 1 + 4);
  bench.fabric.set_cables({kGigabit, 0, 0}, 3 * kLater);
  CHECK_EQUAL(survivors(bench, 3 * kLater), 2 * kFrames);
  bench.fabric.set_cables(settings, 4 * kLater);
  CHECK_EQUAL(survivors(bench, 4 * kLater), kFrames - 1 + 10);
}

TEST(rate_and_delay_are_of_the_frames_that_follow) {
  Bench bench(gigabit(), 2);
  bench.introduce_all();
  bench.fabric.set_cables({kGigabit / 2, 7'000, 0}, kLater);
  bench.send(0, kLater, 0, 1);
  bench.send(0, kLater, 0, 1);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 2U);
  CHECK_EQUAL(seen[0].at_ns, kLater + 4 * kFrameNs + 7'000);
  CHECK_EQUAL(seen[1].at_ns, kLater + 6 * kFrameNs + 7'000);
  CHECK_EQUAL(bench.fabric.shortest_uplink_ns(), 2 * 84 * 8 + 7'000);
}

template <typename AnyBench>
void coalesce(AnyBench& bench, std::int64_t wait_ns, std::int64_t frames, std::int64_t now_ns) {
  Cables cables = static_cast<const Cables&>(bench.fabric.settings());
  cables.rx_coalesce_ns = wait_ns;
  cables.rx_coalesce_frames = frames;
  bench.fabric.set_cables(cables, now_ns);
}

TEST(cards_wait_for_company_and_no_more) {
  Bench plain(gigabit(), 2);
  QosBench queues(with_priorities(), 2);
  plain.introduce_all();
  constexpr std::int64_t kWaitNs = 50'000;
  coalesce(plain, kWaitNs, 4, kLater);
  coalesce(queues, kWaitNs, 4, kLater);
  plain.send(0, kLater, 0, 1);
  queues.send(0, kLater, frame_to(1, 0, kFrameBytes));
  CHECK_EQUAL(plain.run().front().at_ns, kLater + 2 * kFrameNs + kWaitNs);
  CHECK_EQUAL(queues.run().front().at_ns, kLater + 2 * kFrameNs + kWaitNs);
  coalesce(plain, 0, 4, 2 * kLater);
  coalesce(queues, 0, 4, 2 * kLater);
  plain.send(0, 2 * kLater, 0, 1);
  queues.send(0, 2 * kLater, frame_to(1, 0, kFrameBytes));
  CHECK_EQUAL(plain.run().front().at_ns, 2 * kLater + 2 * kFrameNs);
  CHECK_EQUAL(queues.run().front().at_ns, 2 * kLater + 2 * kFrameNs);
}

TEST(frames_stay_in_order_when_a_rate_goes_away) {
  Bench bench(gigabit(), 2);
  bench.introduce_all();
  for (unsigned char number = 1; number <= 4; ++number)
    bench.send(0, kLater, 0, 1, kFrameBytes, number);
  bench.fabric.set_cables({0, 0, 0}, kLater);
  bench.send(0, kLater, 0, 1, kFrameBytes, 5);
  const std::vector<Seen> seen = bench.run();
  CHECK_EQUAL(seen.size(), 5U);
  for (std::size_t index = 0; index < seen.size(); ++index) {
    CHECK_EQUAL(static_cast<std::size_t>(seen[index].number), index + 1);
  }
}

TEST(pauses_begin_at_half_of_the_new_buffer) {
  FabricSettings settings = gigabit();
  settings.buffer_bytes = 100 * kFrameBytes;
  settings.on_full = OnFull::kPause;
  Bench bench(settings, 3);
  bench.introduce_all();
  CHECK_EQUAL(survivors(bench, kLater), 2 * kFrames);
  CHECK_EQUAL(bench.fabric.pause_count(1), 0);
  bench.fabric.set_cables({kGigabit, 0, 20 * kFrameBytes}, 2 * kLater);
  CHECK_EQUAL(survivors(bench, 2 * kLater), 2 * kFrames);
  CHECK_EQUAL(bench.fabric.pause_count(1) > 0, true);
}

TEST(a_switch_with_priorities_is_changed_alike) {
  FabricSettings settings = with_priorities();
  settings.buffer_bytes = 10 * kFrameBytes;
  QosBench bench(settings, 3);
  const auto arrived = [&bench](std::int64_t now_ns) {
    bench.send_many(1, now_ns, kFrames, tagged(0, 1, 0));
    bench.send_many(2, now_ns, kFrames, tagged(0, 2, 0));
    return bench.run();
  };
  const std::size_t many = arrived(kLater).size();
  bench.fabric.set_cables({kGigabit, 0, 4 * kFrameBytes}, 2 * kLater);
  CHECK_EQUAL(arrived(2 * kLater).size(), many - 6);
  bench.fabric.set_cables({kGigabit / 2, 7'000, 0}, 3 * kLater);
  bench.send(1, 4 * kLater, tagged(0, 1, 0));
  const std::vector<Came> came = bench.run();
  CHECK_EQUAL(came.size(), 1U);
  CHECK_EQUAL(came[0].at_ns, 4 * kLater + 4 * kFrameNs + 7'000);
}

TEST(a_change_of_cables_is_checked_against_the_fabric) {
  FabricSettings fabric;
  fabric.name = "f";
  fabric.buffer_bytes = 5;
  fabric.delay_ns = 3;
  fabric.on_full = OnFull::kPause;
  const auto refusal = [&fabric](const std::string& text) -> std::string {
    try {
      changed(fabric, read_change(text));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "(nothing)";
  };
  CHECK_EQUAL(refusal("fabric=f,buffer=0"), "on_full=pause needs a buffer");
  CHECK_EQUAL(refusal("fabric=f,buffer=none"),
              "buffer=none is not a whole number from 0 to 1000000000000000");
  CHECK_EQUAL(refusal("fabric=f,host=a,rate=1"), "rate is of a whole fabric, not of one host");
  CHECK_EQUAL(changed(fabric, read_change("fabric=f,coalesce_ns=8")).rx_coalesce_ns, 8);
  CHECK_EQUAL(changed(fabric, read_change("fabric=f,coalesce=none")).rx_coalesce_frames, 1);
  CHECK_EQUAL(refusal("fabric=f,coalesce=8"), "coalesce=8 is neither NS/FRAMES nor none");
  CHECK_EQUAL(refusal("fabric=f,host=a,coalesce_ns=1"),
              "rx_coalesce_time is of a whole fabric, not of one host");
  const FabricSettings after = changed(fabric, read_change("fabric=f,rate=7,buffer=9"));
  CHECK_EQUAL(after.rate_bits_per_s, 7);
  CHECK_EQUAL(after.delay_ns, 3);
  CHECK_EQUAL(after.buffer_bytes, 9);
  fabric.qos = QosSettings{};
  CHECK_EQUAL(refusal("fabric=f,rate=0"), "a switch with priorities needs a rate");
  fabric.rate_bits_per_s = 1;
  fabric.on_full = OnFull::kDrop;
  CHECK_EQUAL(refusal("fabric=f,ecn=1"), "ecn=1 is neither MIN/MAX nor none");
  CHECK_EQUAL(refusal("fabric=f,ecn=2/1"), "ecn_min is more than ecn_max");
}

TEST(settings_are_told_in_the_words_that_change_them) {
  FabricSettings fabric;
  fabric.name = "f";
  fabric.rate_bits_per_s = 7;
  Faults lossy;
  lossy.loss_ppb = 8;
  CHECK_EQUAL(settings_json(fabric, {lossy, lossy}),
              R"({"fabric":"f","on_full":"drop","buffer":"0","coalesce":"none","delay":"0",)"
              R"("loss_ppb":"8","rate":"7"})");
  fabric.qos = QosSettings{};
  fabric = changed(fabric, read_change("fabric=f,ecn=10/20,pfc=4/3,xoff=5,turns=fair,shared=9"));
  fabric = changed(fabric, read_change("fabric=f,coalesce=6/4"));
  CHECK_EQUAL(settings_json(fabric, {lossy, Faults{}}),
              R"({"fabric":"f","on_full":"drop","alpha_ppm":"1000000","buffer":"0",)"
              R"("coalesce":"6/4","delay":"0","ecn":"10/20",)"
              R"("ecn_ppb":"1000000000","headroom":"none","loss_ppb":"8/0","pfc":"3/4","rate":"7",)"
              R"("shared":"9","turns":"fair","xoff":"5","xon":"none"})");
  fabric = changed(fabric, read_change("fabric=f,ecn=none,pfc=none"));
  CHECK_EQUAL(fabric.qos->ecn_max_bytes, kUnset);
  CHECK_EQUAL(settings_json(fabric, {}).find(R"("ecn":"none")") != std::string::npos, true);
}

TEST(a_refusal_is_read_out_of_an_answer) {
  CHECK_EQUAL(refusal_in(R"({"set":3})"), "");
  CHECK_EQUAL(refusal_in(R"({"error":"no \"such\" fabric"})"), "no \"such\" fabric");
}

TEST(without_a_rate_nothing_waits) {
  FabricSettings settings = gigabit();
  settings.rate_bits_per_s = 0;
  Bench bench(settings, 2);
  bench.send(0, 100, 0, 1);
  bench.send(0, 100, 0, 1);
  CHECK_EQUAL(bench.run().size(), 2U);
  CHECK_EQUAL(bench.fabric.take_queue_maximum(1, 200), 0);
  CHECK_EQUAL(bench.fabric.counters(1).maximum_queue_bytes, 0);
}

}  // namespace
}  // namespace fabriscope::lab
