"""fabriscope evaluates cluster interconnects: which fabric, transport, MPI library or setting is better, and for what.

    import fabriscope
    run = fabriscope.load("runs/demo")
    run.summary()                       # polars frames; .to_pandas() with fabriscope[pandas]

What needs other libraries is imported when it is used, so that the command line starts at once.
"""

from __future__ import annotations

import os
import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` looks for everything in the current folder first, in which anybody may have a file

if sys.argv[:1] == ["-m"] or (sys.argv[:1] and sys.argv[0].rpartition("/")[2] == "fabriscope"):
    try:  # the command, not a program that loads us: Ctrl-C is answered before anything else is loaded
        from fabriscope.model import endings

        endings.begin()
    except KeyboardInterrupt:  # while that was loaded
        os.write(2, b"fabriscope: interrupted before anything was begun\n")
        os._exit(130)

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

    from fabriscope.analysis.results import Results
    from fabriscope.model.run_data import RunData

__version__ = "0.1.0"
__all__ = ["Run", "__version__", "load"]


def load(path: str | PathLike[str]) -> Run:
    """Return a run folder for looking at it in Python.

    Raises StoreError if the folder is missing, damaged or of a newer version.
    """
    from fabriscope import store

    return Run(store.open_run(str(path)).read())


class Run:
    """A run as it was when it was loaded, as frames; times are ns, rates are bytes per second, as stored."""

    def __init__(self, data: RunData) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<fabriscope run {self.manifest['name']!r} in {self.data.path}>"

    @property
    def manifest(self) -> dict[str, Any]:
        """Return the manifest (docs/run-folder.md)."""
        return dict(self.data.manifest.document)

    @property
    def samples(self) -> pl.LazyFrame:
        """Return every sample, lazily: `run.samples.filter(...).collect()`."""
        return self.data.samples

    @cached_property
    def cases(self) -> pl.DataFrame:
        """Return one row for each case of the plan."""
        from fabriscope.analysis.frames import cases_frame

        return cases_frame(self.data)

    @property
    def launches(self) -> pl.DataFrame:
        """Return one row for each launch of the schedule, with how it ended."""
        return self._results.launches

    @property
    def failures(self) -> pl.DataFrame:
        """Return one row for each measurement that failed or was skipped, with the reason."""
        return self._results.failures

    @cached_property
    def _results(self) -> Results:
        from fabriscope.analysis.results import results_of

        return results_of(self.data)

    def launch_values(self) -> pl.DataFrame:
        """Return one value for each launch, case and metric: what statistics are taken over.

        Launches whose transport was refuted are left out (docs/transport.md).
        """
        return self._results.launch_values

    def estimates(self) -> pl.DataFrame:
        """Return one row for each case and metric: value, 95 % interval, spread, counts, trust grade and reasons.

        It is the table `estimates.csv` of a report: without the A/A control, and with refuted launches under a layer's
        name that says what carried them.
        """
        return self._results.estimates

    def transport(self) -> pl.DataFrame:
        """Return one row for each launch that was watched: what carried its bytes, the verdict, and why."""
        return self._results.transport

    def fits(self) -> pl.DataFrame:
        """Return time over size in pieces: one row for each piece of each ping-pong curve."""
        return self._results.fits

    def summary(self) -> pl.DataFrame:
        """Return one row for each curve: largest ping-pong bandwidth, where it is reached, latency."""
        return self._results.summary

    def groups(self) -> pl.DataFrame:
        """Return one row for each curve of collectives and pairs: times, slowest rank, late rounds, clock error."""
        return self._results.groups

    def incast(self) -> pl.DataFrame:
        """Return one row for each number of streams and size of many to one, or to many: aggregate, evidence."""
        return self._results.incast

    def destinations(self) -> pl.DataFrame:
        """Return one row for each host that receives in many to many: aggregate, slowest stream, fairness."""
        return self._results.destinations

    def streams(self) -> pl.DataFrame:
        """Return the bytes of each stream of many to one in each interval of 10 ms or more."""
        return self._results.streams

    def switch(self) -> pl.DataFrame:
        """Return one row for each port of the lab's switch and 10 ms of many to one: queue, drops, marks, pauses."""
        return self._results.switch

    def host_series(self) -> pl.DataFrame:
        """Return one row for each host, device, period of 10 ms or more and counter of many to one that grew in it."""
        from fabriscope.analysis.incast.host_series import host_series_frame

        return self.data.once(host_series_frame)

    def comparisons(self) -> pl.DataFrame:
        """Return one row for each pair of curves and size: ratio, interval, verdict."""
        return self._results.comparisons
