// Named values on their way into the output.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace fabriscope {

using FieldValue = std::variant<std::int64_t, double, std::string>;
using Fields = std::vector<std::pair<std::string, FieldValue>>;

}  // namespace fabriscope
