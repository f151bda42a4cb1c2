#pragma once

namespace fabriscope::profile {

// Returns whether the launch says that every rank is profiled: then ranks need no files of their
// own.
bool gathers();

// Where that is so, brings the files of all ranks to rank 0 and
// writes them there into one, `all`, in the folder: on hosts that share no files they are told by
// rank 0 alone. To be called when nothing is counted any more, by every rank, before MPI_Finalize.
void gather_files(const char* folder);

}  // namespace fabriscope::profile
