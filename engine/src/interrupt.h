// SIGINT, SIGTERM and SIGHUP ask for an orderly end; a second one ends the process at once.
#pragma once

namespace fabriscope {

// Also ignores SIGPIPE and SIGXFSZ: a reader that went away and a file that may not grow are errors
// of a write like any other.
void install_signal_handlers();
// The signal that arrived, or 0.
int interrupting_signal();
// Throws Interrupted where a signal arrived: for the waits before measuring.
void throw_if_interrupted();

}  // namespace fabriscope
