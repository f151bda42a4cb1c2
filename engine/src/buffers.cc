#include "fabriscope/buffers.h"

#include <array>
#include <utility>

namespace fabriscope {
namespace {

constexpr std::array<std::pair<BufferUse, const char*>, 3> kUseNames{{
    {BufferUse::kSame, "same"},
    {BufferUse::kSeparate, "separate"},
    {BufferUse::kRotating, "rotating"},
}};

}  // namespace

std::string buffer_use_name(BufferUse use) {
  for (const auto& [known, name] : kUseNames) {
    if (known == use) return name;
  }
  return {};
}

std::optional<BufferUse> buffer_use_by_name(const std::string& name) {
  for (const auto& [use, known] : kUseNames) {
    if (known == name) return use;
  }
  return std::nullopt;
}

}  // namespace fabriscope
