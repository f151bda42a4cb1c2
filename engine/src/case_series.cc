#include "case_series.h"

#include <cstdint>
#include <sstream>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

// 12 hexadecimal digits in 8 letters (RFC 4648, base64url).
constexpr std::size_t kPackedLength = 8;
constexpr std::size_t kIdLength = 12;
constexpr std::size_t kMaxRepeatedBytes = 64U << 20;
const std::string kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string unpacked_id(const std::string& packed) {
  std::uint64_t bits = 0;
  for (const char letter : packed) {
    const std::size_t value = kLetters.find(letter);
    if (value == std::string::npos) throw UsageError("'" + packed + "' is no packed id");
    bits = bits << 6U | value;
  }
  std::string id(kIdLength, '0');
  for (std::size_t place = kIdLength; place-- > 0; bits >>= 4U) {
    id[place] = "0123456789abcdef"[bits & 15U];
  }
  return id;
}

// "64x16": message size and window.
struct Point {
  std::string message_size_bytes;
  std::string window_size;
};

std::vector<Point> points_of(const std::string& text) {
  std::vector<Point> points;
  std::istringstream stream(text);
  for (std::string one; std::getline(stream, one, ',');) {
    const std::size_t times = one.find('x');
    if (times == std::string::npos) {
      throw UsageError("the point '" + one + "' is not SIZExWINDOW");
    }
    points.push_back({one.substr(0, times), one.substr(times + 1)});
  }
  return points;
}

}  // namespace

std::vector<std::vector<std::string>> CaseSeries::read(const std::vector<std::string>& words) {
  std::string ids;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == 0 || equals == std::string::npos) {
      throw UsageError("'" + words[i] + "' is not key=value");
    }
    const std::string key = words[i].substr(0, equals);
    (key == "ids" ? ids : remembered_[key]) = words[i].substr(equals + 1);
  }
  const std::vector<Point> points = points_of(remembered_["points"]);
  if (points.empty() || ids.size() != points.size() * kPackedLength) {
    throw UsageError("there are " + std::to_string(points.size()) + " points, and " +
                     std::to_string(ids.size()) + " letters of ids instead of " +
                     std::to_string(kPackedLength) + " for each");
  }
  std::size_t repeated_bytes = 0;
  for (const auto& [key, value] : remembered_) {
    if (key != "points") repeated_bytes += key.size() + value.size();
  }
  if (repeated_bytes > kMaxRepeatedBytes / points.size()) {
    throw UsageError("what " + std::to_string(points.size()) + " points repeat is longer than " +
                     std::to_string(kMaxRepeatedBytes >> 20U) + " MiB");
  }
  std::vector<std::vector<std::string>> cases;
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<std::string> one{"id=" + unpacked_id(ids.substr(i * kPackedLength, kPackedLength)),
                                 "message_size_bytes=" + points[i].message_size_bytes,
                                 "window_size=" + points[i].window_size};
    for (const auto& [key, value] : remembered_) {
      if (key == "points" || value.empty()) continue;
      std::string& word = one.emplace_back(key);
      word += '=';
      word += value;
    }
    cases.push_back(std::move(one));
  }
  return cases;
}

}  // namespace fabriscope
