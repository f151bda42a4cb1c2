#include "words.h"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace fabriscope::lab {
namespace {

// Times are at most a day, rates a petabit per second, the rest what no sum of two overflows.
std::int64_t most_of(const std::string& key) {
  const bool is_time = key == "delay" || key == "--awake-ns" || key == "down" ||
                       (key.size() > 3 && key.compare(key.size() - 3, 3, "_ns") == 0);
  if (is_time) return 86'400'000'000'000;
  const bool is_amount = key == "rate" || key == "buffer" || key == "shared" || key == "xoff" ||
                         key == "xon" || key == "headroom" || key == "ecn_min" || key == "ecn_max";
  return is_amount ? 1'000'000'000'000'000 : 1LL << 62;
}

}  // namespace

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

std::string take(Words& words, const std::string& key, const char* fallback) {
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

void refuse_beyond(std::int64_t value, std::int64_t limit, const std::string& what) {
  if (value > limit) throw std::invalid_argument(what);
}

}  // namespace fabriscope::lab
