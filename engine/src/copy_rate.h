// How fast one thread copies memory on this host: what nothing that copies its payload can exceed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace fabriscope {

struct CopyRate {
  double bytes_per_s;
  // That of the buffers between which it was reached.
  std::size_t buffer_bytes;
};

// The best of many copies between two buffers, of sizes from 4 KiB to 64 MiB or to what memory
// there is for them. Takes about `budget_ns`, and as long as it takes to touch the largest buffers.
CopyRate measure_copy_rate(std::int64_t budget_ns);

// The same as one JSON object.
std::string copy_rate_text();

}  // namespace fabriscope
