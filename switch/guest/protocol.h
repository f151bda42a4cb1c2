// What passes between a host's agent and whoever runs a command there: messages over one TCP
// connection for each command. A message is its kind (1 byte), the length of its content (4 bytes,
// big-endian), and the content.
#pragma once

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace fabriscope::guest {

constexpr std::uint16_t kPort = 7;  // of the management network; nothing else listens there
constexpr std::size_t kMaximumContentBytes = 16U << 20;
constexpr std::size_t kPieceBytes = 64U << 10;
// So much standard input may be on its way; the agent acknowledges what the program has taken.
constexpr std::size_t kInputWindowBytes = 256U << 10;

// From whoever runs a command:
constexpr char kRun = 'R';     // folder, number of words, words, variables; each ends with a NUL
constexpr char kInput = 'I';   // of the program's standard input; empty: its end
constexpr char kSignal = 'S';  // its number, to the program's process group
constexpr char kEndAll = 'K';  // instead of kRun: every process of the host but the agent
// From the agent:
constexpr char kOutput = 'O';  // of the program's standard output
constexpr char kErrors = 'E';  // of its standard error
constexpr char kTaken = 'W';   // number of bytes of input that it took, in decimal
constexpr char kExited = 'X';  // its exit status, in decimal
constexpr char kKilled = 'D';  // the signal that ended it, in decimal

struct Message {
  char kind;
  std::string content;
};

// One end of a connection that never blocks.
class Connection {
 public:
  explicit Connection(int descriptor) : descriptor_(descriptor) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(descriptor_); }

  int descriptor() const { return descriptor_; }
  bool has_output() const { return sent_ < output_.size(); }
  std::size_t output_bytes() const { return output_.size() - sent_; }

  void send(char kind, const std::string& content) {
    output_.push_back(kind);
    const auto size = static_cast<std::uint32_t>(content.size());
    for (int shift = 24; shift >= 0; shift -= 8)
      output_.push_back(static_cast<char>((size >> shift) & 255U));
    output_ += content;
  }

  // Both return false when the other end is gone.
  bool write_some() {
    while (has_output()) {
      const ssize_t written =
          ::send(descriptor_, output_.data() + sent_, output_.size() - sent_, MSG_NOSIGNAL);
      if (written < 0) return errno == EAGAIN || errno == EINTR;
      sent_ += static_cast<std::size_t>(written);
    }
    output_.clear();
    sent_ = 0;
    return true;
  }
  bool read_some() {
    char piece[kPieceBytes];
    const ssize_t size = ::recv(descriptor_, piece, sizeof piece, 0);
    if (size > 0) input_.append(piece, static_cast<std::size_t>(size));
    return size > 0 || (size < 0 && (errno == EAGAIN || errno == EINTR));
  }

  // Returns the next whole message, if there is one. `is_garbled` is set by one that is too large.
  std::optional<Message> take(bool& is_garbled) {
    constexpr std::size_t kHeadBytes = 5;
    if (input_.size() < kHeadBytes) return std::nullopt;
    std::size_t size = 0;
    for (std::size_t index = 1; index < kHeadBytes; ++index)
      size = size << 8U | static_cast<unsigned char>(input_[index]);
    is_garbled = size > kMaximumContentBytes;
    if (is_garbled || input_.size() < kHeadBytes + size) return std::nullopt;
    Message message{input_[0], input_.substr(kHeadBytes, size)};
    input_.erase(0, kHeadBytes + size);
    return message;
  }

 private:
  int descriptor_;
  std::string input_;
  std::string output_;
  std::size_t sent_ = 0;
};

}  // namespace fabriscope::guest
