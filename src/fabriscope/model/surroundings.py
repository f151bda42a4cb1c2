"""What the libraries that we load need of the process: told in a sentence, since they hang or abort without it."""

from __future__ import annotations

import os
import re
import resource

from fabriscope.model.errors import FabriscopeError, ToolMissing, shown

_LEAST_BYTES, _BYTES_OF_A_CORE = 2 << 30, 8 << 20
"""Of address space. `plan check` was seen to take 0.7 GiB, a report 1.7 on 2 cores and 2.1 with the threads of 64; with
less, threads cannot be started, and what waits for them waits for ever."""
_POLARS_THREADS = "POLARS_MAX_THREADS"


def check() -> None:
    """Raise ToolMissing where address space is limited to less than is needed, FabriscopeError for a wrong variable."""
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    least = _LEAST_BYTES + _BYTES_OF_A_CORE * (os.cpu_count() or 1)
    if soft != resource.RLIM_INFINITY and soft < least:
        what = f"the address space is limited to {soft >> 20} MiB (ulimit -v), and {least >> 20} are needed"
        raise ToolMissing(what, fix="raise the limit, or lift it: `ulimit -v unlimited`")
    threads = os.environ.get(_POLARS_THREADS)
    if threads is not None and not re.fullmatch("[1-9][0-9]{0,3}", threads):
        what = f"{_POLARS_THREADS} is {shown(threads)}, which is no number of threads from 1 to 9999"
        raise FabriscopeError(what, fix=f"give one, or `unset {_POLARS_THREADS}`")
