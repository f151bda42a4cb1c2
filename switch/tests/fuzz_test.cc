// Settings, requests and frames changed at random: read or refused, and no number differs from its
// text.
#include <random>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "../../engine/tests/mutate.h"
#include "../guest/request.h"
#include "bench.h"
#include "check.h"
#include "qos_bench.h"
#include "settings.h"

using fabriscope::test::fuzz_count;
using fabriscope::test::Mutator;
using namespace fabriscope::lab;

namespace {

const char* const kFabric =
    "name=gige,rate=1000000000,delay=2000,buffer=65536,coalesce_ns=80000,coalesce_frames=15,"
    "on_full=drop,seed=7,loss_ppb=10,drop_every=3,reorder_ppb=5,reorder_delay_ns=100,"
    "flap_period_ns=1000,flap_down_ns=10,down=0,pfc=3/4,xoff=100,xon=50,headroom=70,shared=1000,"
    "alpha_ppm=2000000,ecn_min=10,ecn_max=20,ecn_ppb=5,turns=fair,dscp=26:3/0:7";
const char* const kPort =
    "fabric=gige,host=a,kind=packet,netns=/run/netns/a,device=eth1,peer=v1,"
    "address=02:00:00:00:00:01";
const char* const kChange = "fabric=gige,host=a,loss_ppb=5,down=1";

std::string value_of(const std::string& text, const std::string& key) {
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, ',');) {
    if (word.rfind(key + "=", 0) == 0) return word.substr(key.size() + 1);
  }
  return "";
}

bool is_same(const std::string& digits, std::int64_t value) {
  const std::size_t first = digits.find_first_not_of('0');
  const std::string plain = first == std::string::npos ? "0" : digits.substr(first);
  return digits.empty() || plain == std::to_string(value);
}

bool is_fabric_read(const std::string& text) {
  try {
    const Settings settings = read_settings({"--control", "x", "--fabric", text});
    const FabricSettings& fabric = settings.fabrics.at(0);
    CHECK_EQUAL(is_same(value_of(text, "rate"), fabric.rate_bits_per_s), true);
    CHECK_EQUAL(is_same(value_of(text, "delay"), fabric.delay_ns), true);
    CHECK_EQUAL(is_same(value_of(text, "buffer"), fabric.buffer_bytes), true);
    CHECK_EQUAL(is_same(value_of(text, "coalesce_ns"), fabric.rx_coalesce_ns), true);
    CHECK_EQUAL(is_same(value_of(text, "loss_ppb"), fabric.faults.loss_ppb), true);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

bool is_change_read(const std::string& text) {
  try {
    changed(Faults{}, read_change(text));
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

bool is_port_read(const std::string& text) {
  try {
    return read_settings({"--control", "x", "--port", text}).ports.size() == 1;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

bool is_request_read(const std::string& content) {
  try {
    return !fabriscope::guest::read_request(content).words.empty();
  } catch (const std::invalid_argument&) {
    return false;
  }
}

// Some are read and some are not, or nothing was tried.
template <typename Read>
void try_many(Read read, const std::vector<std::string>& texts) {
  Mutator mutator(20, texts);
  const std::uint64_t count = fuzz_count(2000);
  std::uint64_t reads = 0;
  for (std::uint64_t i = 0; i < count; ++i) reads += read(mutator.next()) ? 1 : 0;
  CHECK_EQUAL(reads > 0, true);
  CHECK_EQUAL(reads < count, true);
}

}  // namespace

TEST(fabrics_changed_at_random) {
  CHECK_EQUAL(is_fabric_read(kFabric), true);
  for (const char* bad : {"name=a,rate=+5", "name=a,rate= 12", "name=a,rate=0x10",
                          "name=a,rate=1e3", "name=a,delay=9223372036854775807",
                          "name=a,rate=1,rate=2", "name=a\"b", "name=a,rate=-0", "name=a,rate="}) {
    CHECK_EQUAL(!is_fabric_read(bad), true);
  }
  try_many(is_fabric_read, {kFabric, "name=a", "name=b,on_full=pause,buffer=10"});
}

TEST(ports_changed_at_random) { try_many(is_port_read, {kPort}); }
TEST(changes_changed_at_random) {
  try_many(is_change_read,
           {kChange, "fabric=gige,on_full=drop", "fabric=gige,pfc=none,xoff=none,ecn_min=5"});
}

TEST(requests_to_an_agent_changed_at_random) {
  const std::string whole("/root\0002\0ls\0-l\0PATH=/bin\0", 24);
  CHECK_EQUAL(is_request_read(whole), true);
  for (const char* count : {"+2", " 2", "2x", "-1", "0", "18446744073709551617"}) {
    CHECK_EQUAL(!is_request_read("/" + std::string(1, '\0') + std::string(count) +
                                 std::string("\0ls\0-l\0", 7)),
                true);
  }
  try_many(is_request_read, {whole, std::string("/\0001\0true\0", 9)});
}

// Of whatever sizes and addresses frames are, and whatever the fabric does to them: all come to an
// end, none comes back to who sent it, none comes twice, and none comes that nobody sent.
TEST(frames_at_random) {
  std::mt19937_64 draw(20);
  const auto below = [&draw](std::uint64_t limit) {
    return static_cast<std::int64_t>(draw() % limit);
  };
  const std::uint64_t rounds = fuzz_count(2000) / 20;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    FabricSettings settings = gigabit();
    settings.rate_bits_per_s = below(3) == 0 ? 0 : 1 + below(20'000'000'000);
    settings.delay_ns = below(100'000);
    settings.buffer_bytes = below(2) == 0 ? 0 : below(200'000);
    settings.rx_coalesce_ns = below(2) == 0 ? 0 : below(100'000);
    settings.rx_coalesce_frames = 1 + below(20);
    if (settings.buffer_bytes > 0 && below(2) == 0) settings.on_full = OnFull::kPause;
    settings.faults.loss_ppb = below(4) == 0 ? below(1'000'000'000) : 0;
    settings.faults.drop_every = below(4) == 0 ? below(9) : 0;
    settings.faults.reorder_ppb = below(4) == 0 ? below(1'000'000'000) : 0;
    settings.faults.reorder_delay_ns = below(200'000);
    settings.seed = below(1'000);
    const std::size_t ports = 2 + static_cast<std::size_t>(below(5));
    Bench bench(settings, ports);
    std::vector<std::size_t> from(200);
    std::vector<std::int64_t> sizes(200);
    std::int64_t now_ns = 0;
    for (std::size_t number = 0; number < from.size(); ++number) {
      now_ns += below(2) == 0 ? 0 : below(50'000);
      from[number] = static_cast<std::size_t>(below(ports));
      sizes[number] = 15 + below(kMaximumFrameBytes - 14);
      bench.send(from[number], now_ns, static_cast<unsigned char>(below(256)),
                 static_cast<unsigned char>(below(4) == 0 ? kBroadcast : below(256)), sizes[number],
                 static_cast<unsigned char>(number));
    }
    std::vector<std::vector<int>> came(ports, std::vector<int>(from.size()));
    for (const Seen& one : bench.run()) {
      CHECK_EQUAL(one.number < from.size(), true);
      CHECK_EQUAL(one.port != from[one.number], true);
      CHECK_EQUAL(one.size_bytes, sizes[one.number]);
      CHECK_EQUAL(++came[one.port][one.number], 1);
    }
  }
}

// Likewise for switches with priorities, whatever they are told; and nothing is kept at the end.
TEST(frames_at_random_by_priority) {
  std::mt19937_64 draw(21);
  const auto below = [&draw](std::uint64_t limit) {
    return static_cast<std::int64_t>(draw() % limit);
  };
  for (std::uint64_t round = 0; round < fuzz_count(2000) / 20; ++round) {
    FabricSettings settings = with_priorities();
    settings.rate_bits_per_s = 1'000'000 + below(20'000'000'000);
    settings.delay_ns = below(100'000);
    settings.buffer_bytes = below(2) == 0 ? 0 : below(200'000);
    settings.qos->lossless = static_cast<std::uint8_t>(below(256));
    settings.qos->xoff_bytes = below(60'000);
    settings.qos->headroom_bytes = below(2) == 0 ? kUnset : below(60'000);
    settings.qos->shared_bytes = below(2) == 0 ? 0 : 1 + below(200'000);
    settings.qos->alpha_ppm = 1 + below(10'000'000);
    settings.qos->ecn_min_bytes = below(20'000);
    settings.qos->ecn_max_bytes = settings.qos->ecn_min_bytes + below(20'000);
    settings.qos->is_fair = below(2) == 0;
    settings.faults.loss_ppb = below(4) == 0 ? below(1'000'000'000) : 0;
    settings.faults.reorder_ppb = below(4) == 0 ? below(1'000'000'000) : 0;
    settings.faults.reorder_delay_ns = below(200'000);
    const std::size_t ports = 2 + static_cast<std::size_t>(below(5));
    for (std::size_t port = 0; port < ports; ++port)
      settings.qos->switch_of_port.push_back(static_cast<std::size_t>(below(3)));
    QosBench bench(settings, ports);
    std::int64_t now_ns = 0;
    for (int number = 0; number < 200; ++number) {
      now_ns += below(2) == 0 ? 0 : below(50'000);
      const auto from = static_cast<std::size_t>(below(ports));
      const auto to = static_cast<std::size_t>(below(4) == 0 ? kBroadcast : below(ports));
      const std::size_t size_bytes = 20 + static_cast<std::size_t>(below(kMaximumFrameBytes - 20));
      bench.send(from, now_ns,
                 below(2) == 0 ? tagged(to, from, static_cast<std::size_t>(below(8)),
                                        static_cast<std::int64_t>(size_bytes), number)
                               : priority_pause(static_cast<std::size_t>(below(8)), 9));
    }
    bench.run();
    CHECK_EQUAL(bench.fabric.next_event_ns(), kNever);
    for (std::size_t port = 0; port < ports; ++port)
      CHECK_EQUAL(bench.fabric.queue_bytes(port, kNever), 0);
    CHECK_EQUAL(bench.fabric.memory(0).used_bytes(), 0);
  }
}
