#pragma once

#include <string>
#include <utility>

#include "spec.h"

namespace fabriscope {

// The specification at rank 0: read and checked once, by whoever asks first. The tcp rendezvous
// asks before the others are there, so that a mistake in it is said at once.
class SpecSource {
 public:
  explicit SpecSource(std::string path) : path_(std::move(path)) {}

  // Throws UsageError.
  const std::string& text() {
    if (text_.empty()) {
      std::string text = read_spec_text(path_);
      parse_spec(text);
      text_ = std::move(text);
    }
    return text_;
  }

 private:
  std::string path_;
  std::string text_;
};

}  // namespace fabriscope
