"""fabriscope evaluates cluster interconnects: which fabric, transport, MPI library or setting is better, and for what.

    import fabriscope
    run = fabriscope.load("runs/demo")
    run.summary()                       # polars frames; .to_pandas() where pandas is wanted

What needs other libraries is imported when it is used, so that the command line starts at once.
"""

from __future__ import annotations

import sys

if sys.argv[:1] == ["-m"] and not sys.flags.safe_path:
    del sys.path[0]  # `python -m` looks for everything in the current folder first, in which anybody may have a file

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from os import PathLike

    import polars as pl

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

    @cached_property
    def launches(self) -> pl.DataFrame:
        """Return one row for each launch of the schedule, with how it ended."""
        from fabriscope.analysis.frames import launches_frame

        return launches_frame(self.data)

    @cached_property
    def failures(self) -> pl.DataFrame:
        """Return one row for each measurement that failed or was skipped, with the reason."""
        from fabriscope.analysis.frames import failures_frame

        return failures_frame(self.data)

    @cached_property
    def _launch_values(self) -> pl.DataFrame:
        from fabriscope.analysis.launch_values import launch_values

        return launch_values(self.data)

    def launch_values(self) -> pl.DataFrame:
        """Return one value for each launch, case and metric: what statistics are taken over.

        Launches whose transport was refuted are left out (docs/transport.md).
        """
        return self._launch_values

    def estimates(self) -> pl.DataFrame:
        """Return one row for each case and metric: value, 95 % interval, spread, counts, trust grade and reasons."""
        from fabriscope.analysis.control import control_of
        from fabriscope.analysis.estimates import estimates_of
        from fabriscope.analysis.stopping import rules_of
        from fabriscope.analysis.transport import verdicts
        from fabriscope.analysis.trust import Outside, with_trust

        found = estimates_of(self._launch_values, rules_of(self.data).method)
        control = control_of(self.comparisons())
        failed = "it failed" if control and control.is_failed else None
        return with_trust(self.data, found, Outside(verdicts(self.data), failed))

    def transport(self) -> pl.DataFrame:
        """Return one row for each launch that was watched: what carried its bytes, the verdict, and why."""
        from fabriscope.analysis.transport import transport_frame

        return transport_frame(self.data)

    def fits(self) -> pl.DataFrame:
        """Return time over size in pieces: one row for each piece of each ping-pong curve."""
        from fabriscope.analysis.fits import fits
        from fabriscope.analysis.launch_values import launch_values

        return fits(launch_values(self.data, anchors=True))

    def summary(self) -> pl.DataFrame:
        """Return one row for each curve: largest ping-pong bandwidth, where it is reached, latency."""
        from fabriscope.analysis.stopping import rules_of
        from fabriscope.analysis.summary import summary

        return summary(self._launch_values, rules_of(self.data).method)

    def groups(self) -> pl.DataFrame:
        """Return one row for each curve of collectives and pairs: times, slowest rank, late rounds, clock error."""
        from fabriscope.analysis.groups import groups

        return groups(self.data, self._launch_values)

    def comparisons(self) -> pl.DataFrame:
        """Return one row for each pair of curves and size: ratio, interval, verdict."""
        from fabriscope.analysis.comparisons import compare_all
        from fabriscope.analysis.stopping import rules_of

        return compare_all(self._launch_values, rules_of(self.data))
