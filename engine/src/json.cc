#include "json.h"

#include <cmath>
#include <cstddef>
#include <cstdio>

namespace fabriscope {
namespace {

// The length of the well-formed UTF-8 sequence at the start of `text`, or 0.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies past U+10FFFF.
  if (lead == 0xE0 && byte(1) < 0xA0) return 0;
  if (lead == 0xED && byte(1) > 0x9F) return 0;
  if (lead == 0xF0 && byte(1) < 0x90) return 0;
  if (lead == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

std::string escape(char character) {
  switch (character) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(character);
  if (code >= 0x20 && code != 0x7F) return {character};
  char escaped[8];
  std::snprintf(escaped, sizeof escaped, "\\u%04x", code);
  return escaped;
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string json = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      json += "\\ufffd";
    } else if (length == 1) {
      json += escape(text[0]);
    } else {
      json += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return json + "\"";
}

std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

JsonObject& JsonObject::add_raw(std::string_view key, std::string_view json) {
  if (text_.size() > 1) text_ += ',';
  text_ += json_string(key);
  text_ += ':';
  text_ += json;
  return *this;
}

JsonObject& JsonObject::add(std::string_view key, std::string_view value) {
  return add_raw(key, json_string(value));
}
JsonObject& JsonObject::add(std::string_view key, const char* value) {
  return add(key, std::string_view(value));
}
JsonObject& JsonObject::add(std::string_view key, std::int64_t value) {
  return add_raw(key, std::to_string(value));
}
JsonObject& JsonObject::add(std::string_view key, int value) {
  return add(key, static_cast<std::int64_t>(value));
}
JsonObject& JsonObject::add(std::string_view key, double value) {
  return add_raw(key, json_number(value));
}
JsonObject& JsonObject::add(std::string_view key, bool value) {
  return add_raw(key, value ? "true" : "false");
}
JsonObject& JsonObject::add(std::string_view key, const std::vector<std::int64_t>& values) {
  std::string text = "[";
  for (const std::int64_t value : values) {
    if (text.size() > 1) text += ',';
    text += std::to_string(value);
  }
  return add_raw(key, text + "]");
}
JsonObject& JsonObject::add_null(std::string_view key) { return add_raw(key, "null"); }

JsonObject& JsonObject::add_fields(const Fields& fields) {
  for (const auto& [key, value] : fields) {
    std::visit([&, name = std::string_view(key)](const auto& content) { add(name, content); },
               value);
  }
  return *this;
}

}  // namespace fabriscope
