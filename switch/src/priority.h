// How urgently the switch's thread is served.
#pragma once

namespace fabriscope::lab {

// A rank that spins must not hold a frame up. Asks for the lowest real-time priority; where that is
// not allowed, for the best ordinary one, and for short turns, which let a thread that mostly
// sleeps go first when it wakes up.
void ask_for_priority();

}  // namespace fabriscope::lab
