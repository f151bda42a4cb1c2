// The output: one JSON object a line, from rank 0. docs/engine-output.md says what is in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json.h"
#include "net/unique_fd.h"

namespace fabriscope {

class StreamWriter {
 public:
  // Standard output where `path` is empty. Throws UsageError where it cannot be opened.
  explicit StreamWriter(const std::string& path);

  // Written at once, so that a reader sees it and a crash does not take it along.
  void line(const JsonObject& object);

  // A line with one long array of integers, which is never held in memory as a whole.
  void line_with_integers(const JsonObject& head, const std::string& key,
                          const std::int64_t* values, std::int64_t count);
  void flush();

 private:
  void append(std::string_view text);

  UniqueFd file_;
  int fd_;
  std::string buffer_;
};

}  // namespace fabriscope
