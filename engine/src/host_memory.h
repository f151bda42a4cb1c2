// What a rank has to know of its host's memory before it takes much of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace fabriscope {

// The largest cache of the first processor; nothing where neither the kernel nor the processor
// says.
std::optional<std::size_t> last_level_cache_bytes();
// What can be taken without swapping and without the limit of a control group (version 2) on the
// way up to the root.
std::optional<std::size_t> available_memory_bytes();
// Alike for all ranks whose memory is one, whatever their hosts call themselves.
std::string memory_identity();

}  // namespace fabriscope
