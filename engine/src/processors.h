// On which processors a rank runs, where it is told so: the same way over every transport.
#pragma once

#include <string>
#include <vector>

#include "fabriscope/rendezvous.h"
#include "fabriscope/settings.h"

namespace fabriscope {

// `0/1`, `0-3/4,6`: those of rank 0, then of rank 1 ..., each as the kernel writes lists of
// processors. Throws UsageError.
std::vector<std::string> parse_rank_processors(const std::string& text);

// Confines this thread and those that it will start to the processors of a list. Throws CaseError
// where the host does not let it have all of them.
void confine_to(const std::string& processors);

// Does so as early as the rank is known, before any library has threads of its own. What fails is
// told when the ranks have found each other (Session::take_processors).
void confine_early(const Settings& settings);

// The processors that this thread may run on, as the kernel writes them: `0,2-3`; empty if it does
// not say.
std::string allowed_processors();

// Whether more ranks of this machine than there are processors may run on the same ones as this
// rank. Every rank calls it at once, with the same word on the same machine alone.
bool is_crowded(Rendezvous& rendezvous, const std::string& machine);

}  // namespace fabriscope
