// What is to be measured: the text that rank 0 is given and every rank reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fabriscope/transport.h"
#include "turns.h"

namespace fabriscope {

struct CaseSpec {
  std::string id;
  std::string benchmark;
  std::size_t message_size_bytes = 0;
  std::size_t window_size = 1;
  OptionSet options;
};

struct Spec {
  std::uint64_t seed = 1;
  std::int64_t budget_ns = 1'000'000'000;
  std::int64_t burst_ns = 3'000'000;
  std::int64_t max_burst_operations = 1000;
  std::int64_t case_timeout_ns = 10'000'000'000;
  std::int64_t sample_memory_bytes = 32 << 20;
  std::int64_t pool_bytes = 0;  // of rotating buffers; 0: as the host's cache wants it
  bool verify = true;
  bool share_clocks = true;  // ranks of one host need not compare theirs
  TurnSpec turns;
  std::vector<CaseSpec> cases;
};

// Throws UsageError naming the line and what is wrong with it.
Spec parse_spec(const std::string& text);

// The text of `path` up to its end or a line "end"; "-" is standard input. Throws UsageError.
std::string read_spec_text(const std::string& path);

// A decimal number in [least, most] and nothing else. Throws UsageError naming `what`.
std::int64_t parse_integer(const std::string& text, const std::string& what, std::int64_t least,
                           std::int64_t most);

}  // namespace fabriscope
