#include "settings.h"

#include <algorithm>
#include <array>
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
with a line of JSON. CABLE is rate, delay or buffer.
FAULT is loss_ppb, drop_every, reorder_ppb, reorder_delay_ns, flap_period_ns, flap_down_ns or down (0 or 1).
QUEUES make it a switch with priorities: pfc=P/P... (those that are paused), xoff, xon, headroom, shared,
ecn_min, ecn_max (bytes, or none), ecn=MIN/MAX (both of them), alpha_ppm, ecn_ppb, turns=strict|fair,
dscp=DSCP:P/DSCP:P...

       fabriscope-switch --ask PATH REQUEST

Prints what the switch behind a control socket answers; ends with 1 where it refuses.
)";

namespace {

constexpr std::int64_t kMostSwitches = 8;

constexpr std::array<const char*, 7> kFaultWords{
    "loss_ppb",       "drop_every",   "reorder_ppb", "reorder_delay_ns",
    "flap_period_ns", "flap_down_ns", "down"};

constexpr std::array<const char*, 3> kCableWords{"rate", "delay", "buffer"};

Words take_cables(Words& words) {
  Words cables;
  for (const char* key : kCableWords) {
    if (words.count(key) != 0) cables[key] = take(words, key);
  }
  return cables;
}

Cables with_cables(const Cables& cables, const Words& words) {
  const auto read = [&words](const char* key, std::int64_t before) {
    const auto found = words.find(key);
    return found == words.end() ? before : read_number(found->second, key);
  };
  return {read("rate", cables.rate_bits_per_s), read("delay", cables.delay_ns),
          read("buffer", cables.buffer_bytes)};
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
  fabric.rx_coalesce_ns = take_number(words, "coalesce_ns", "0");
  fabric.rx_coalesce_frames = take_number(words, "coalesce_frames", "1");
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
  if (!change.cables.empty() && !change.host.empty()) {
    throw std::invalid_argument(change.cables.begin()->first +
                                " is of a whole fabric, not of one host");
  }
  if (!change.qos.empty() && !change.host.empty()) {
    const std::string& key = change.qos.begin()->first;
    throw std::invalid_argument((key == "turns" ? "scheduler" : key) +
                                " is of a whole fabric, not of one host");
  }
  return change;
}

Faults changed(Faults faults, const Change& change) { return with_faults(faults, change.faults); }

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

std::string settings_json(const FabricSettings& fabric) {
  const char* on_full = fabric.on_full == OnFull::kPause ? "pause" : "drop";
  std::string json = "{\"fabric\":\"" + fabric.name + "\",\"on_full\":\"" + on_full + "\"";
  Words words{{"rate", std::to_string(fabric.rate_bits_per_s)},
              {"delay", std::to_string(fabric.delay_ns)},
              {"buffer", std::to_string(fabric.buffer_bytes)}};
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
