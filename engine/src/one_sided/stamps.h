// What the far side looks at to see whether a message has arrived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace fabriscope {

// Numbers of an element's type in the first element of every 4 KiB of a message and in its last
// one: enough to miss no packet of any size in use, and so few that looking costs next to nothing.
class Stamps {
 public:
  // For elements of type Element and messages of `size_bytes`, a multiple of their size.
  template <typename Element>
  static Stamps of(std::size_t size_bytes) {
    Stamps stamps;
    stamps.size_bytes_ = size_bytes;
    stamps.write_ = [](unsigned char* message, std::size_t bytes, std::int64_t number,
                       std::size_t step_bytes) {
      const auto value = static_cast<Element>(number);
      for (std::size_t at = 0; at < bytes; at += step_bytes) {
        std::memcpy(message + at, &value, sizeof value);
      }
      if (bytes > 0) std::memcpy(message + bytes - sizeof value, &value, sizeof value);
    };
    stamps.show_ = [](const unsigned char* message, std::size_t bytes, std::int64_t number) {
      const auto value = static_cast<Element>(number);
      // The last one first: it is what usually comes last.
      const auto stands_at = [&](std::size_t at) {
        return *reinterpret_cast<const volatile Element*>(message + at) == value;
      };
      if (!stands_at(bytes - sizeof value)) return false;
      for (std::size_t at = 0; at < bytes; at += kStepBytes) {
        if (!stands_at(at)) return false;
      }
      return true;
    };
    stamps.element_bytes_ = sizeof(Element);
    return stamps;
  }

  // Numbers are taken modulo 2^8 where elements are bytes.
  void write(unsigned char* message, std::int64_t number) const {
    write_(message, size_bytes_, number, kStepBytes);
  }
  // Every element.
  void fill(unsigned char* message, std::int64_t number) const {
    write_(message, size_bytes_, number, element_bytes_);
  }
  // For messages of at least one element.
  bool show(const unsigned char* message, std::int64_t number) const {
    return show_(message, size_bytes_, number);
  }

 private:
  static constexpr std::size_t kStepBytes = 4096;

  std::size_t size_bytes_ = 0;
  std::size_t element_bytes_ = 1;
  void (*write_)(unsigned char*, std::size_t, std::int64_t, std::size_t) = nullptr;
  bool (*show_)(const unsigned char*, std::size_t, std::int64_t) = nullptr;
};

}  // namespace fabriscope
