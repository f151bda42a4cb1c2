#include "settings.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "qos_words.h"
#include "words.h"

namespace fabriscope::lab {

const char* const kUsage =
    R"(usage: fabriscope-switch --control PATH [--awake-ns N] [--no-realtime]
         --fabric name=F[,rate=BITS_PER_S][,delay=NS][,buffer=BYTES][,coalesce_ns=NS][,coalesce_frames=N]
                  [,on_full=drop|pause][,seed=N][,FAULT=N...][,QUEUES=...] ...
         --port fabric=F,host=H,netns=PATH,device=ETH[,address=MAC]               (a TAP device) ...
         --port fabric=F,host=H,kind=packet,netns=PATH,device=ETH,peer=VETH       (a veth pair) ...
                  [,switch=N]                                           (the N-th of switches in a row)

Emulates Ethernet switches. A rate or buffer of 0 is unlimited. Prints "ready" once every port is open, and
its counters as JSON when it ends (SIGTERM). The control socket answers a line "counters", "reset",
"series UNIX_NS" (what happened since), "get fabric=F" or
"set fabric=F[,host=H][,on_full=drop|pause][,CABLE=N...][,FAULT=N...][,QUEUES=...]"
with a line of JSON. CABLE is rate, delay, buffer, coalesce_ns, coalesce_frames or
coalesce=NS/FRAMES|none (both of them).
FAULT is loss_ppb, drop_every, reorder_ppb, reorder_delay_ns, flap_period_ns, flap_down_ns or down (0 or 1);
A/B... instead of N is one for each port that is meant, in their order.
QUEUES make it a switch with priorities: pfc=P/P... (those that are paused), xoff, xon, headroom, shared,
ecn_min, ecn_max (bytes, or none), ecn=MIN/MAX (both of them), alpha_ppm, ecn_ppb, turns=strict|fair,
dscp=DSCP:P/DSCP:P...

       fabriscope-switch --ask PATH REQUEST

Prints what the switch behind a control socket answers; ends with 1 where it refuses.
)";

namespace {

constexpr std::int64_t kMostSwitches = 8;
constexpr const char* kAtOnce = "none";

constexpr std::array<const char*, 7> kFaultWords{
    "loss_ppb",       "drop_every",   "reorder_ppb", "reorder_delay_ns",
    "flap_period_ns", "flap_down_ns", "down"};

constexpr std::array<const char*, 6> kCableWords{"rate",        "delay",           "buffer",
                                                 "coalesce_ns", "coalesce_frames", "coalesce"};

Words take_cables(Words& words) {
  Words cables;
  for (const char* key : kCableWords) {
    if (words.count(key) != 0) cables[key] = take(words, key);
  }
  return cables;
}

// NS/FRAMES, or none.
void read_coalescing(const std::string& text, Cables& cables) {
  const std::size_t at = text.find('/');
  if (text != kAtOnce && at == std::string::npos)
    throw std::invalid_argument("coalesce=" + text + " is neither NS/FRAMES nor none");
  const bool is_none = text == kAtOnce;
  cables.rx_coalesce_ns = is_none ? 0 : read_number(text.substr(0, at), "coalesce_ns");
  cables.rx_coalesce_frames = is_none ? 1 : read_number(text.substr(at + 1), "coalesce_frames");
}

std::string coalescing_of(const Cables& cables) {
  if (cables.rx_coalesce_ns == 0) return kAtOnce;
  return std::to_string(cables.rx_coalesce_ns) + "/" + std::to_string(cables.rx_coalesce_frames);
}

Cables with_cables(const Cables& cables, const Words& words) {
  const auto read = [&words](const char* key, std::int64_t before) {
    const auto found = words.find(key);
    return found == words.end() ? before : read_number(found->second, key);
  };
  Cables changed{read("rate", cables.rate_bits_per_s), read("delay", cables.delay_ns),
                 read("buffer", cables.buffer_bytes), read("coalesce_ns", cables.rx_coalesce_ns),
                 read("coalesce_frames", cables.rx_coalesce_frames)};
  if (words.count("coalesce") != 0) read_coalescing(words.at("coalesce"), changed);
  return changed;
}

std::optional<OnFull> take_on_full(Words& words) {
  const std::string value = take(words, "on_full", "");
  if (value.empty()) return std::nullopt;
  if (value == "drop") return OnFull::kDrop;
  if (value == "pause") return OnFull::kPause;
  throw std::invalid_argument("on_full=" + value + " is neither drop nor pause");
}

Words take_faults(Words& words) {
  Words faults;
  for (const char* key : kFaultWords) {
    if (words.count(key) != 0) faults[key] = take(words, key);
  }
  return faults;
}

Faults with_faults(Faults faults, const Words& words) {
  const auto read = [&words](const char* key, std::int64_t before) {
    const auto found = words.find(key);
    return found == words.end() ? before : read_number(found->second, key);
  };
  faults.loss_ppb = read("loss_ppb", faults.loss_ppb);
  faults.drop_every = read("drop_every", faults.drop_every);
  faults.reorder_ppb = read("reorder_ppb", faults.reorder_ppb);
  faults.reorder_delay_ns = read("reorder_delay_ns", faults.reorder_delay_ns);
  faults.flap_period_ns = read("flap_period_ns", faults.flap_period_ns);
  faults.flap_down_ns = read("flap_down_ns", faults.flap_down_ns);
  const std::int64_t down = read("down", faults.is_down ? 1 : 0);
  refuse_beyond(faults.loss_ppb, kPartsPerBillion, "loss_ppb is more than all");
  refuse_beyond(faults.reorder_ppb, kPartsPerBillion, "reorder_ppb is more than all");
  refuse_beyond(faults.flap_down_ns, faults.flap_period_ns, "flap_down_ns is more than the period");
  refuse_beyond(down, 1, "down is 0 or 1");
  faults.is_down = down == 1;
  return faults;
}

FabricSettings read_fabric(const std::string& text) {
  Words words = read_words(text);
  FabricSettings fabric;
  fabric.name = take(words, "name");
  static_cast<Cables&>(fabric) = with_cables({}, take_cables(words));
  fabric.on_full = take_on_full(words).value_or(OnFull::kDrop);
  fabric.seed = take_number(words, "seed", "1");
  fabric.faults = with_faults({}, take_faults(words));
  const Words qos = take_qos(words);
  if (!qos.empty()) fabric.qos = with_qos({}, qos);
  refuse_rest(words);
  refuse_contradictions(fabric);
  return fabric;
}

PortSettings read_port(const std::string& text) {
  Words words = read_words(text);
  PortSettings port;
  port.fabric = take(words, "fabric");
  port.host = take(words, "host");
  port.kind = take(words, "kind", "tap");
  port.netns = take(words, "netns");
  port.device = take(words, "device");
  port.address = take(words, "address", "");
  port.peer = take(words, "peer", "");
  port.switch_number = take_number(words, "switch", "1");
  refuse_rest(words);
  if (port.kind != "tap" && port.kind != "packet")
    throw std::invalid_argument("there is no kind of port '" + port.kind + "'");
  if (port.switch_number < 1 || port.switch_number > kMostSwitches) {
    throw std::invalid_argument("switch=" + std::to_string(port.switch_number) + " is not 1 to " +
                                std::to_string(kMostSwitches));
  }
  return port;
}

// Tells each fabric with several switches in a row which of them its ports are of.
void place_ports(Settings& settings) {
  for (FabricSettings& fabric : settings.fabrics) {
    std::vector<std::size_t> places;
    for (const PortSettings& port : settings.ports) {
      if (port.fabric == fabric.name)
        places.push_back(static_cast<std::size_t>(port.switch_number) - 1);
    }
    const bool is_row = std::any_of(places.begin(), places.end(), [](auto at) { return at > 0; });
    if (!is_row) continue;
    if (!fabric.qos) fabric.qos = QosSettings{};
    fabric.qos->switch_of_port = std::move(places);
    refuse_contradictions(fabric);
  }
}

// By the name that people know it by.
[[noreturn]] void refuse_host(const std::string& key) {
  const Words names{{"turns", "scheduler"},
                    {"coalesce_ns", "rx_coalesce_time"},
                    {"coalesce_frames", "rx_coalesce_frames"}};
  const auto found = names.find(key);
  throw std::invalid_argument((found == names.end() ? key : found->second) +
                              " is of a whole fabric, not of one host");
}

// The part of `10/0/20` at a place, of as many as there are places; what has no parts is for all.
std::string part_of(const std::string& text, const std::string& key, std::size_t place,
                    std::size_t count) {
  std::vector<std::string> parts;
  std::istringstream left(text);
  for (std::string part; std::getline(left, part, '/');) parts.push_back(part);
  if (parts.size() <= 1) return text;
  if (parts.size() == count) return parts[place];
  throw std::invalid_argument(key + "=" + text + " is for " + std::to_string(parts.size()) +
                              " ports, and " + std::to_string(count) + " are meant");
}

// One number where all ports have the same.
std::string losses_of(const std::vector<Faults>& ports) {
  std::string all;
  bool is_one = true;
  for (const Faults& port : ports) {
    is_one = is_one && port.loss_ppb == ports.front().loss_ppb;
    all += (all.empty() ? "" : "/") + std::to_string(port.loss_ppb);
  }
  return is_one && !ports.empty() ? std::to_string(ports.front().loss_ppb) : all;
}

}  // namespace

Change read_change(const std::string& text) {
  Words words = read_words(text);
  Change change;
  change.fabric = take(words, "fabric");
  change.host = take(words, "host", "");
  change.on_full = take_on_full(words);
  change.cables = take_cables(words);
  with_cables({}, change.cables);  // refuses what cannot be read
  change.faults = take_faults(words);
  change.qos = take_qos(words);
  with_qos({}, change.qos);  // refuses what cannot be read
  refuse_rest(words);
  if (change.on_full && !change.host.empty())
    throw std::invalid_argument("on_full is of a whole fabric, not of one host");
  if (!change.cables.empty() && !change.host.empty()) refuse_host(change.cables.begin()->first);
  if (!change.qos.empty() && !change.host.empty()) refuse_host(change.qos.begin()->first);
  return change;
}

Faults changed(Faults faults, const Change& change, std::size_t place, std::size_t count) {
  Words own;
  for (const auto& [key, value] : change.faults) own[key] = part_of(value, key, place, count);
  return with_faults(faults, own);
}

FabricSettings changed(FabricSettings fabric, const Change& change) {
  if (!change.qos.empty() && !fabric.qos) {
    throw std::invalid_argument("fabric " + fabric.name +
                                " has one queue for each port: it would have to be started with "
                                "priorities, for example pfc=3");
  }
  if (change.on_full) fabric.on_full = *change.on_full;
  static_cast<Cables&>(fabric) = with_cables(fabric, change.cables);
  if (fabric.qos) fabric.qos = with_qos(*fabric.qos, change.qos);
  refuse_contradictions(fabric);
  return fabric;
}

std::string settings_json(const FabricSettings& fabric, const std::vector<Faults>& ports) {
  const char* on_full = fabric.on_full == OnFull::kPause ? "pause" : "drop";
  std::string json = "{\"fabric\":\"" + fabric.name + "\",\"on_full\":\"" + on_full + "\"";
  Words words{{"rate", std::to_string(fabric.rate_bits_per_s)},
              {"delay", std::to_string(fabric.delay_ns)},
              {"buffer", std::to_string(fabric.buffer_bytes)},
              {"coalesce", coalescing_of(fabric)},
              {"loss_ppb", losses_of(ports)}};
  if (fabric.qos) words.merge(words_of(*fabric.qos));
  for (const auto& [key, value] : words)
    json.append(",\"").append(key).append("\":\"").append(value).append("\"");
  return json + "}";
}

Settings read_settings(const std::vector<std::string>& arguments) {
  Settings settings;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    const std::string& option = arguments[index];
    if (option == "--no-realtime") {
      settings.realtime = false;
      continue;
    }
    if (index + 1 == arguments.size())
      throw std::invalid_argument(option + " needs a value, or is unknown");
    const std::string& value = arguments[++index];
    if (option == "--control") {
      settings.control_path = value;
    } else if (option == "--awake-ns") {
      settings.awake_ns = read_number(value, "--awake-ns");
    } else if (option == "--fabric") {
      settings.fabrics.push_back(read_fabric(value));
    } else if (option == "--port") {
      settings.ports.push_back(read_port(value));
    } else {
      throw std::invalid_argument("there is no option " + option);
    }
  }
  if (settings.control_path.empty()) throw std::invalid_argument("--control is missing");
  place_ports(settings);
  return settings;
}

}  // namespace fabriscope::lab
