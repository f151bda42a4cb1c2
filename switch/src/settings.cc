#include "settings.h"

#include <array>
#include <charconv>
#include <map>
#include <sstream>
#include <stdexcept>

namespace fabriscope::lab {

const char* const kUsage =
    R"(usage: fabriscope-switch --control PATH [--awake-ns N] [--no-realtime]
         --fabric name=F[,rate=BITS_PER_S][,delay=NS][,buffer=BYTES][,coalesce_ns=NS][,coalesce_frames=N]
                  [,on_full=drop|pause][,seed=N][,FAULT=N...] ...
         --port fabric=F,host=H,netns=PATH,device=ETH[,address=MAC]               (a TAP device) ...
         --port fabric=F,host=H,kind=packet,netns=PATH,device=ETH,peer=VETH       (a veth pair) ...

Emulates Ethernet switches. A rate or buffer of 0 is unlimited. Prints "ready" once every port is open, and
its counters as JSON when it ends (SIGTERM). The control socket answers a line "counters", "queues",
"reset" or "set fabric=F[,host=H][,on_full=drop|pause][,FAULT=N...]" with a line of JSON.
FAULT is loss_ppb, drop_every, reorder_ppb, reorder_delay_ns, flap_period_ns, flap_down_ns or down (0 or 1).
)";

namespace {

using Words = std::map<std::string, std::string>;

constexpr std::array<const char*, 7> kFaultWords{
    "loss_ppb",       "drop_every",   "reorder_ppb", "reorder_delay_ns",
    "flap_period_ns", "flap_down_ns", "down"};

Words read_words(const std::string& text) {
  for (const char letter : text) {
    // They are written into JSON as they are.
    if (letter < ' ' || letter == '"' || letter == '\\' || letter == '\x7f')
      throw std::invalid_argument("a character that is no plain one is in '" + text + "'");
  }
  Words words;
  std::istringstream stream(text);
  std::string word;
  while (std::getline(stream, word, ',')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("'" + word + "' is not KEY=VALUE");
    const std::string key = word.substr(0, equals);
    if (!words.emplace(key, word.substr(equals + 1)).second)
      throw std::invalid_argument("'" + key + "' is given twice");
  }
  return words;
}

std::string take(Words& words, const std::string& key, const char* fallback = nullptr) {
  const auto found = words.find(key);
  if (found == words.end()) {
    if (fallback == nullptr) throw std::invalid_argument("'" + key + "=' is missing");
    return fallback;
  }
  std::string value = found->second;
  words.erase(found);
  return value;
}

// Times are at most a day, rates a petabit per second, the rest what no sum of two overflows.
std::int64_t most_of(const std::string& key) {
  const bool is_time = key == "delay" || key == "--awake-ns" || key == "down" ||
                       (key.size() > 3 && key.compare(key.size() - 3, 3, "_ns") == 0);
  if (is_time) return 86'400'000'000'000;
  return key == "rate" || key == "buffer" ? 1'000'000'000'000'000 : 1LL << 62;
}

// Digits and nothing else: no sign, no space, no other base.
std::int64_t read_number(const std::string& text, const std::string& key) {
  std::int64_t value = -1;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  const bool is_number = error == std::errc() && stopped == end && text[0] != '-';
  if (!is_number || value > most_of(key)) {
    throw std::invalid_argument(key + "=" + text + " is not a whole number from 0 to " +
                                std::to_string(most_of(key)));
  }
  return value;
}

std::int64_t take_number(Words& words, const std::string& key, const char* fallback) {
  return read_number(take(words, key, fallback), key);
}

void refuse_rest(const Words& words) {
  if (!words.empty()) throw std::invalid_argument("there is no key '" + words.begin()->first + "'");
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

void refuse_beyond(std::int64_t value, std::int64_t limit, const std::string& what) {
  if (value > limit) throw std::invalid_argument(what);
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
  fabric.rate_bits_per_s = take_number(words, "rate", "0");
  fabric.delay_ns = take_number(words, "delay", "0");
  fabric.buffer_bytes = take_number(words, "buffer", "0");
  fabric.rx_coalesce_ns = take_number(words, "coalesce_ns", "0");
  fabric.rx_coalesce_frames = take_number(words, "coalesce_frames", "1");
  fabric.on_full = take_on_full(words).value_or(OnFull::kDrop);
  fabric.seed = take_number(words, "seed", "1");
  fabric.faults = with_faults({}, take_faults(words));
  refuse_rest(words);
  if (fabric.on_full == OnFull::kPause && fabric.buffer_bytes == 0)
    throw std::invalid_argument("on_full=pause needs a buffer");
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
  refuse_rest(words);
  if (port.kind != "tap" && port.kind != "packet")
    throw std::invalid_argument("there is no kind of port '" + port.kind + "'");
  return port;
}

}  // namespace

Change read_change(const std::string& text) {
  Words words = read_words(text);
  Change change;
  change.fabric = take(words, "fabric");
  change.host = take(words, "host", "");
  change.on_full = take_on_full(words);
  change.faults = take_faults(words);
  refuse_rest(words);
  if (change.on_full && !change.host.empty())
    throw std::invalid_argument("on_full is of a whole fabric, not of one host");
  return change;
}

Faults changed(Faults faults, const Change& change) { return with_faults(faults, change.faults); }

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
  return settings;
}

}  // namespace fabriscope::lab
