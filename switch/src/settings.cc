#include "settings.h"

#include <map>
#include <sstream>
#include <stdexcept>

namespace fabriscope::lab {

const char* const kUsage =
    R"(usage: fabriscope-switch --control PATH [--awake-ns N] [--no-realtime]
         --fabric name=F[,rate=BITS_PER_S][,delay=NS][,buffer=BYTES][,coalesce_ns=NS][,coalesce_frames=N] ...
         --port fabric=F,host=H,netns=PATH,device=ETH[,address=MAC]               (a TAP device) ...
         --port fabric=F,host=H,kind=packet,netns=PATH,device=ETH,peer=VETH       (a veth pair) ...

Emulates Ethernet switches. A rate or buffer of 0 is unlimited. Prints "ready" once every port is open, and
its counters as JSON when it ends (SIGTERM). The control socket answers a line "counters", "queues" or
"reset" with a line of JSON.
)";

namespace {

using Words = std::map<std::string, std::string>;

Words read_words(const std::string& text) {
  Words words;
  std::istringstream stream(text);
  std::string word;
  while (std::getline(stream, word, ',')) {
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) throw std::invalid_argument("'" + word + "' is not KEY=VALUE");
    words[word.substr(0, equals)] = word.substr(equals + 1);
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

std::int64_t read_number(const std::string& text, const std::string& key) {
  std::size_t used = 0;
  std::int64_t value = -1;
  try {
    value = std::stoll(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (used != text.size() || used == 0 || value < 0) {
    throw std::invalid_argument(key + "=" + text + " is not a number from 0 up");
  }
  return value;
}

std::int64_t take_number(Words& words, const std::string& key, const char* fallback) {
  return read_number(take(words, key, fallback), key);
}

void refuse_rest(const Words& words) {
  if (!words.empty()) throw std::invalid_argument("there is no key '" + words.begin()->first + "'");
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
  refuse_rest(words);
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
