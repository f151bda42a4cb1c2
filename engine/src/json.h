// Writing JSON, one object a line. Reading none: the engine's input is simpler.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabriscope/fields.h"

namespace fabriscope {

// `text` as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
// Six significant digits; what is not finite becomes null.
std::string json_number(double value);

// One object, member by member, in the order of the calls.
class JsonObject {
 public:
  JsonObject& add(std::string_view key, std::string_view value);
  JsonObject& add(std::string_view key, const char* value);
  JsonObject& add(std::string_view key, std::int64_t value);
  JsonObject& add(std::string_view key, int value);
  JsonObject& add(std::string_view key, double value);
  JsonObject& add(std::string_view key, bool value);
  JsonObject& add(std::string_view key, const std::vector<std::int64_t>& values);
  JsonObject& add_null(std::string_view key);
  // `json` is a value that is already written.
  JsonObject& add_raw(std::string_view key, std::string_view json);
  JsonObject& add_fields(const Fields& fields);

  std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

}  // namespace fabriscope
