#include "qos_words.h"

#include <array>
#include <sstream>
#include <stdexcept>

namespace fabriscope::lab {
namespace {

constexpr std::array<const char*, 12> kQosWords{"pfc",     "xoff",      "xon",     "headroom",
                                                "shared",  "alpha_ppm", "ecn_min", "ecn_max",
                                                "ecn_ppb", "turns",     "dscp",    "ecn"};
constexpr const char* kNone = "none";
constexpr std::int64_t kMostAlphaPpm = 1'000 * kMillion;

// Parts of `3/4`; nothing for `none`.
std::vector<std::string> parts_of(const std::string& text) {
  std::vector<std::string> parts;
  if (text == kNone) return parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, '/');) parts.push_back(part);
  if (parts.empty()) parts.emplace_back();
  return parts;
}

std::int64_t read_below(const std::string& text, const std::string& key, std::size_t limit) {
  const std::int64_t value = read_number(text, key);
  refuse_beyond(value, static_cast<std::int64_t>(limit) - 1,
                key + "=" + text + " is not below " + std::to_string(limit));
  return value;
}

std::uint8_t read_priorities(const std::string& text) {
  unsigned found = 0;
  for (const std::string& part : parts_of(text)) {
    found |= 1U << static_cast<unsigned>(read_below(part, "pfc", kPriorities));
  }
  return static_cast<std::uint8_t>(found);
}

DscpMap read_map(const std::string& text) {
  DscpMap map = by_class_selector();
  for (const std::string& part : parts_of(text)) {
    const std::size_t colon = part.find(':');
    if (colon == std::string::npos)
      throw std::invalid_argument("dscp=" + part + " is not DSCP:PRIORITY");
    const std::int64_t dscp = read_below(part.substr(0, colon), "dscp", kDscps);
    const std::int64_t priority = read_below(part.substr(colon + 1), "dscp priority", kPriorities);
    map[static_cast<std::size_t>(dscp)] = static_cast<std::uint8_t>(priority);
  }
  return map;
}

// MIN/MAX, or `none`.
void read_marks(const std::string& text, QosSettings& qos) {
  const std::vector<std::string> parts = parts_of(text);
  if (parts.size() != 2 && !parts.empty())
    throw std::invalid_argument("ecn=" + text + " is neither MIN/MAX nor none");
  qos.ecn_min_bytes = parts.empty() ? kUnset : read_number(parts[0], "ecn_min");
  qos.ecn_max_bytes = parts.empty() ? kUnset : read_number(parts[1], "ecn_max");
}

std::string priorities_text(unsigned priorities) {
  std::string text;
  for (std::size_t priority = 0; priority < kPriorities; ++priority) {
    if ((priorities >> priority & 1U) == 0) continue;
    text += (text.empty() ? "" : "/") + std::to_string(priority);
  }
  return text.empty() ? kNone : text;
}

bool read_turns(const std::string& text) {
  if (text != "strict" && text != "fair")
    throw std::invalid_argument("turns=" + text + " is neither strict nor fair");
  return text == "fair";
}

}  // namespace

Words take_qos(Words& words) {
  Words found;
  for (const char* key : kQosWords) {
    if (words.count(key) != 0) found[key] = take(words, key);
  }
  return found;
}

QosSettings with_qos(QosSettings qos, const Words& words) {
  // A number, or `none`: left to what there is.
  const auto amount = [&words](const char* key, std::int64_t& place) {
    const auto found = words.find(key);
    if (found == words.end()) return;
    place = found->second == kNone ? kUnset : read_number(found->second, key);
  };
  const auto number = [&words](const char* key, std::int64_t& place) {
    const auto found = words.find(key);
    if (found != words.end()) place = read_number(found->second, key);
  };
  amount("xoff", qos.xoff_bytes);
  amount("xon", qos.xon_bytes);
  amount("headroom", qos.headroom_bytes);
  amount("ecn_min", qos.ecn_min_bytes);
  amount("ecn_max", qos.ecn_max_bytes);
  if (words.count("ecn") != 0) read_marks(words.at("ecn"), qos);
  number("shared", qos.shared_bytes);
  number("alpha_ppm", qos.alpha_ppm);
  number("ecn_ppb", qos.ecn_ppb);
  if (words.count("pfc") != 0) qos.lossless = read_priorities(words.at("pfc"));
  if (words.count("turns") != 0) qos.is_fair = read_turns(words.at("turns"));
  if (words.count("dscp") != 0) qos.priority_of_dscp = read_map(words.at("dscp"));
  return qos;
}

Words words_of(const QosSettings& qos) {
  const auto amount = [](std::int64_t bytes) {
    return bytes == kUnset ? std::string(kNone) : std::to_string(bytes);
  };
  const std::string marks = amount(qos.ecn_min_bytes) + "/" + amount(qos.ecn_max_bytes);
  return {{"pfc", priorities_text(qos.lossless)},
          {"xoff", amount(qos.xoff_bytes)},
          {"xon", amount(qos.xon_bytes)},
          {"headroom", amount(qos.headroom_bytes)},
          {"shared", std::to_string(qos.shared_bytes)},
          {"alpha_ppm", std::to_string(qos.alpha_ppm)},
          {"ecn", qos.ecn_min_bytes == kUnset ? kNone : marks},
          {"ecn_ppb", std::to_string(qos.ecn_ppb)},
          {"turns", qos.is_fair ? "fair" : "strict"}};
}

void refuse_contradictions(const FabricSettings& fabric) {
  const auto refuse = [](bool is_wrong, const char* what) {
    if (is_wrong) throw std::invalid_argument(what);
  };
  const bool pauses_links = fabric.on_full == OnFull::kPause;
  if (!fabric.qos)
    return refuse(pauses_links && fabric.buffer_bytes == 0, "on_full=pause needs a buffer");
  const QosSettings& qos = *fabric.qos;
  const bool pauses = pauses_links || qos.lossless != 0;
  const bool has_threshold =
      qos.xoff_bytes != kUnset || qos.shared_bytes > 0 || fabric.buffer_bytes > 0;
  refuse(fabric.rate_bits_per_s == 0, "a switch with priorities needs a rate");
  refuse(pauses_links && qos.lossless != 0,
         "on_full=pause pauses whole links and pfc priorities: choose one of them");
  refuse(pauses && !has_threshold, "a pause needs xoff, a shared buffer or a buffer");
  refuse(qos.xoff_bytes == kUnset && qos.xon_bytes != kUnset && qos.shared_bytes == 0 &&
             qos.xon_bytes > fabric.buffer_bytes / 2,
         "xon is more than half of the buffer, at which a pause begins");
  refuse(qos.xoff_bytes != kUnset && qos.xon_bytes > qos.xoff_bytes, "xon is more than xoff");
  refuse(qos.shared_bytes > 0 && qos.xoff_bytes > qos.shared_bytes,
         "xoff is more than the shared buffer");
  refuse(qos.alpha_ppm == 0, "with an alpha of 0 no frame would be taken");
  refuse(qos.alpha_ppm > kMostAlphaPpm, "alpha is more than 1000");
  refuse((qos.ecn_min_bytes == kUnset) != (qos.ecn_max_bytes == kUnset),
         "ecn_min and ecn_max belong together");
  refuse(qos.ecn_min_bytes > qos.ecn_max_bytes, "ecn_min is more than ecn_max");
  refuse(qos.ecn_ppb > kPartsPerBillion, "ecn_ppb is more than all");
}

}  // namespace fabriscope::lab
