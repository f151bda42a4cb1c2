#include "stream.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>

#include "fabriscope/error.h"

namespace fabriscope {
namespace {

constexpr std::size_t kBufferBytes = 1U << 16;

}  // namespace

StreamWriter::StreamWriter(const std::string& path) : fd_(STDOUT_FILENO) {
  buffer_.reserve(kBufferBytes + 4096);
  if (path.empty()) return;
  file_ = UniqueFd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file_) throw UsageError(system_failure("open the output " + path).what());
  fd_ = file_.get();
}

void StreamWriter::line(const JsonObject& object) {
  append(object.text() + "\n");
  flush();
}

void StreamWriter::line_with_integers(const JsonObject& head, const std::string& key,
                                      const std::int64_t* values, std::int64_t count) {
  std::string text = head.text();
  text.back() = ',';
  append(text + json_string(key) + ":[");
  for (std::int64_t i = 0; i < count; ++i) {
    char digits[24];
    char* begin = digits;
    if (i > 0) *begin++ = ',';
    const char* end = std::to_chars(begin, digits + sizeof digits, values[i]).ptr;
    append({digits, static_cast<std::size_t>(end - digits)});
  }
  append("]}\n");
}

void StreamWriter::append(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBufferBytes) flush();
}

void StreamWriter::flush() {
  std::size_t written = 0;
  while (written < buffer_.size()) {
    const ssize_t count = ::write(fd_, buffer_.data() + written, buffer_.size() - written);
    if (count < 0) {
      if (errno == EINTR) continue;
      buffer_.clear();
      throw RunError(system_failure("write the output").what());
    }
    written += static_cast<std::size_t>(count);
  }
  buffer_.clear();
}

}  // namespace fabriscope
