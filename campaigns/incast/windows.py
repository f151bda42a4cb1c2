"""What arrived in windows of streams by the engine, and what the lab's switch delivered in them by its own periods."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from fabriscope.analysis.incast.switch_windows import WindowPorts, ports_in
from fabriscope.analysis.values.streams import windows_by_launch
from fabriscope.model.run_data import RunData

ON_WIRE_BYTES = 14 + 20 + 32 + 24
"""Of every frame: Ethernet, IPv4, TCP with its time stamps, and check sum, preamble and gap."""


def bytes_in_windows(run: RunData) -> dict[str, tuple[int, int]]:
    """Return case id to the payload that arrived in its windows, and that the switch delivered to the receiver in them.

    A window lasts until the next one begins: by then all that was sent in it has been read, however late the receiver
    had the processor. Where a frame was dropped, what was carried arrived later or twice, and the window is left out.
    """
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for (_, case_id), windows in windows_by_launch(run).items():
        for window, after in pairwise(windows):
            seen, ends = ports_in(run, window), after.span_unix_ns
            if seen is None or ends is None or after.burst != window.burst + 1:
                continue
            carried, dropped = _carried(seen, ends[0])
            if not dropped:
                found[case_id][0] += sum(map(sum, window.series.values())) + sum(window.after_bytes.values())
                found[case_id][1] += carried
    return {case_id: (arrived, carried) for case_id, (arrived, carried) in found.items()}


def _carried(seen: WindowPorts, end_ns: int) -> tuple[int, int]:
    """Return the payload that the switch delivered to the receiver from a window's begin on, and frames it dropped."""
    begin_ns, port = seen.begin_unix_ns, seen.ports[seen.receivers[0]]
    payload = [size - ON_WIRE_BYTES * count for size, count in zip(port.wire_bytes, port.frames, strict=True)]
    carried = sum(share for _, share, _ in port.parts(payload, begin_ns, end_ns, end_ns - begin_ns))
    return carried, sum(port.within("dropped_frames", begin_ns, end_ns))
