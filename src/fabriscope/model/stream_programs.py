"""For how long programs of others send the streams of many to one and many to many: whole seconds, told to each client.

None of them can be told when to start. So what is counted lasts long beside what their clients start apart, or streams
are sent before and after it, too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from fabriscope.model.benchmarks import DEFAULTS


@dataclass(frozen=True)
class StreamProgram:
    """One program, by the name of its instrument."""

    least_s: int
    """What is counted of a stream lasts as long at least: of less, the time between two starts is too large a share."""
    margin_s: int
    """How long each stream is sent before what is counted of it, and after that."""
    start_s: float
    """About what a case takes beside sending: servers and clients start, and end."""

    def counted_s(self, parameters: Mapping[str, str]) -> int:
        """Return how much of each stream is counted where a case has these parameters."""
        asked_ms = int(parameters.get("duration_ms", DEFAULTS["duration_ms"]))
        return max(self.least_s, math.ceil(asked_ms / 1000))

    def case_s(self, parameters: Mapping[str, str]) -> float:
        """Return about how long a case takes."""
        return self.start_s + self.counted_s(parameters) + 2 * self.margin_s


_PERFTEST = StreamProgram(least_s=3, margin_s=3, start_s=2.5)
"""ib_write_bw sleeps for a second before it sends, and both measure the processor's clock for 0.2 s afterwards."""
STREAM_PROGRAMS = {
    "iperf3": StreamProgram(least_s=3, margin_s=0, start_s=0.5),
    "ib_write_bw": _PERFTEST,
    "ib_send_bw": _PERFTEST,
}
