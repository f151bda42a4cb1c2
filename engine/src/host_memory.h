// What a rank has to know of its host's memory before it takes much of it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace fabriscope {

// The largest cache of the first processor; nothing where neither the kernel nor the processor
// says.
std::optional<std::size_t> last_level_cache_bytes();
// What can be taken without swapping and within the limits of this process's control groups
// (version 2).
std::optional<std::size_t> available_memory_bytes();
// What the limits of a group, "/a/b", and of all above it leave, the mounted root's too: of a
// container it is the container's own. Cached files that nobody has read lately give way, and do
// not count as used. Nothing where there is no limit.
std::optional<std::size_t> left_of_group(const std::string& root, std::string group);
// Alike for all ranks whose memory is one, whatever their hosts call themselves.
std::string memory_identity();

}  // namespace fabriscope
