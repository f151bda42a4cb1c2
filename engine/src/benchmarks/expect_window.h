// Receives of a whole window that are to stand ready before its first message comes.
#pragma once

#include <cstddef>

#include "fabriscope/transport.h"

namespace fabriscope {

// The window's places lie `stride` apart; 0: all of its messages share one.
inline void expect_window(Endpoint& endpoint, unsigned char* window, std::size_t stride,
                          std::size_t size_bytes, std::size_t window_size) {
  const std::size_t place_count = stride == 0 ? 1 : window_size;
  for (std::size_t i = 0; i < place_count; ++i) {
    endpoint.expect(window + i * stride, size_bytes, window_size / place_count);
  }
}

}  // namespace fabriscope
