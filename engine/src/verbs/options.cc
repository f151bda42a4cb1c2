#include "options.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "../spec.h"
#include "fabriscope/error.h"

namespace fabriscope {
namespace {

int parse_int(const std::string& key, const std::string& value, int least, int most) {
  try {
    return static_cast<int>(parse_integer(value, key, least, most));
  } catch (const UsageError& error) {
    throw CaseError(error.what());
  }
}

// Whether it is the second of two words.
bool parse_choice(const std::string& key, const std::string& value, const std::string& first,
                  const std::string& second) {
  if (value != first && value != second) {
    throw CaseError(key + " is '" + value + "', not one of " + first + ", " + second);
  }
  return value == second;
}

int parse_mtu(const std::string& key, const std::string& value) {
  const int bytes = parse_int(key, value, 256, 4096);
  if ((bytes & (bytes - 1)) != 0) {
    throw CaseError(key + " is " + value + ", not one of 256, 512, 1024, 2048, 4096");
  }
  return bytes;
}

}  // namespace

VerbsOptions parse_verbs_options(const OptionSet& asked, const VerbsOptions& own) {
  VerbsOptions options = own;
  using Setter = std::function<void(const std::string& key, const std::string& value)>;
  const auto whole = [](auto& place, int least, int most) -> Setter {
    return [&place, least, most](const std::string& key, const std::string& value) {
      place = parse_int(key, value, least, most);
    };
  };
  const auto choice = [](bool& place, const char* first, const char* second) -> Setter {
    return [&place, first, second](const std::string& key, const std::string& value) {
      place = parse_choice(key, value, first, second);
    };
  };
  const std::map<std::string, Setter> known{
      {"ack_timeout", whole(options.ack_timeout, 0, 31)},
      {"completion", choice(options.by_event, "polling", "event")},
      {"connection", choice(options.by_manager, "exchange", "manager")},
      {"device", [&](const std::string&, const std::string& value) { options.device = value; }},
      {"gid_index", whole(options.gid_index, 0, 255)},
      {"hca_port", whole(options.hca_port, 1, 255)},
      {"inline_limit", whole(options.inline_limit, 0, 1024)},
      {"path_mtu_bytes",
       [&](const std::string& key, const std::string& value) {
         options.path_mtu_bytes = parse_mtu(key, value);
       }},
      {"queue_depth", whole(options.queue_depth, 4, 16384)},
      {"service_level", whole(options.service_level, 0, 15)},
      {"signal_every", whole(options.signal_every, 1, 16384)},
      {"traffic_class", whole(options.traffic_class, 0, 255)},
  };
  for (const auto& [key, value] : asked) {
    const auto found = known.find(key);
    if (found == known.end()) {
      std::string text = "the verbs transport takes no option '";
      text.append(key).append("'; known are: ");
      for (const auto& [name, setter] : known) {
        if (name != known.begin()->first) text.append(", ");
        text.append(name);
      }
      throw CaseError(text);
    }
    if (!value.empty()) found->second(key, value);
  }
  options.signal_every = std::min(options.signal_every, options.queue_depth / 2);
  return options;
}

}  // namespace fabriscope
