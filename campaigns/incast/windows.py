"""What arrived in windows of streams by the engine, and what the lab's switch delivered in them by its own periods."""

from __future__ import annotations

from collections import defaultdict
from itertools import zip_longest

from fabriscope.analysis.incast.switch_windows import WindowPorts, ports_in
from fabriscope.analysis.values.streams import StreamWindow, windows_by_launch
from fabriscope.model.run_data import RunData

ON_WIRE_BYTES = 14 + 20 + 32 + 24
"""Of every frame: Ethernet, IPv4, TCP with its time stamps, and check sum, preamble and gap."""

LONG_AFTER_NS = 2**62
"""When every launch has ended."""


def bytes_in_windows(run: RunData) -> dict[str, tuple[int, int]]:
    """Return case id to the payload that arrived in its windows, and that the switch delivered to the receiver in them.

    A window lasts until the launch's next burst begins, or it ends: by then all that was sent in it has been read,
    however late the receiver had the processor. It is left out where a burst follows that was not measured, or may
    (a case failed), and where a frame was dropped: what was carried then arrived later, or twice.
    """
    by_launch: dict[int, list[StreamWindow]] = defaultdict(list)
    whole = {one.launch_id for one in run.journal if all(result.status == "ok" for result in one.results.values())}
    for (launch_id, _), windows in windows_by_launch(run).items():
        by_launch[launch_id] += windows if launch_id in whole else []
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for windows in by_launch.values():
        windows.sort(key=lambda window: window.burst)
        for window, after in zip_longest(windows, windows[1:]):
            seen, span = ports_in(run, window), after.span_unix_ns if after else (LONG_AFTER_NS,)
            if seen is None or span is None or (after and after.burst != window.burst + 1):
                continue
            carried, dropped = _carried(seen, span[0])
            arrived = sum(map(sum, window.series.values())) + sum(window.after_bytes.values())
            if not dropped:
                found[window.case_id][0] += arrived
                found[window.case_id][1] += carried
    return {case_id: (arrived, carried) for case_id, (arrived, carried) in found.items()}


def _carried(seen: WindowPorts, end_ns: int) -> tuple[int, int]:
    """Return the payload that the switch delivered to the receiver from a window's begin on, and frames it dropped.

    All senders wait before a window begins: so what is in the period of its begin is its own, and what is in the period
    of the next one's is not.
    """
    port = seen.ports[seen.receivers[0]]
    periods = zip(port.at_unix_ns, port.wire_bytes, port.frames, strict=True)
    carried = sum(
        size - ON_WIRE_BYTES * count for at_ns, size, count in periods if seen.begin_unix_ns < at_ns <= end_ns
    )
    return carried, sum(port.within("dropped_frames", seen.begin_unix_ns, end_ns))
