// What an agent is asked for, out of the content of a message.
#pragma once

#include <charconv>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace fabriscope::guest {

using Words = std::vector<std::string>;

struct Request {
  std::string folder;
  Words words;
  Words variables;
};

// Digits and nothing else; none for what is no number or a larger one.
inline std::optional<std::size_t> whole_number(const std::string& text, std::size_t most) {
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || value > most) return std::nullopt;
  return value;
}

// Throws std::invalid_argument.
inline Request read_request(const std::string& content) {
  if (content.empty() || content.back() != '\0') throw std::invalid_argument("a cut request");
  Words fields;
  for (std::size_t begin = 0; begin < content.size();) {
    const std::size_t end = content.find('\0', begin);
    fields.push_back(content.substr(begin, end - begin));
    begin = end + 1;
  }
  if (fields.size() < 3) throw std::invalid_argument("no command");
  const auto count = whole_number(fields[1], fields.size() - 2);
  if (!count || *count == 0) throw std::invalid_argument("no command");
  const auto first = fields.begin() + 2;
  const auto last = first + static_cast<std::ptrdiff_t>(*count);
  return {fields[0], Words(first, last), Words(last, fields.end())};
}

}  // namespace fabriscope::guest
