// A question to the switch behind a control socket.
#pragma once

#include <string>

namespace fabriscope::lab {

// Returns its answer, a line of JSON. Throws std::runtime_error where there is none in 5 s.
std::string answer_of(const std::string& path, const std::string& request);

// Returns what the switch refused, or nothing.
std::string refusal_in(const std::string& answer);

}  // namespace fabriscope::lab
