"""What leaves a wire empty beside a slow machine: so that less than it allows is no proof of one."""

from __future__ import annotations

from fabriscope.analysis.words import size_text, time_text
from fabriscope.model.case import Case
from fabriscope.model.fabric import Fabric
from fabriscope.model.lab import SwitchSpec
from fabriscope.model.layers import layer_of

MOST_ROUND_TRIPS = 20
"""A stream that lasts no longer than so many round trips has hardly begun: TCP doubles its window in each."""


def waits_for(case: Case, duration_ns: int | None, fabric: Fabric | None, switch: SwitchSpec | None) -> str:
    """Return what keeps the streams of a case from filling the wire, as far as the plan tells; else nothing.

    `duration_ns` is how long they were sent.
    """
    if ("mode", "rounds") in case.parameters:
        return "in rounds the wire is empty while the next one is asked for"
    if switch is not None and switch.reorder_share:
        return "the switch holds frames back, which TCP takes for losses"
    delay_ns = switch.delay_ns if switch is not None else (fabric.delay_ns or 0) if fabric is not None else 0
    if duration_ns is not None and 2 * delay_ns * MOST_ROUND_TRIPS > duration_ns:
        lasts = time_text(duration_ns)
        return f"there and back takes {time_text(2 * delay_ns)} at least, and streams of {lasts} hardly begin"
    limits = [one for one in (case.socket.send_buffer_bytes, case.socket.receive_buffer_bytes) if one is not None]
    if limits:
        return f"the plan lets a stream have {size_text(min(limits))} in a socket buffer"
    if case.window_size == 1 and layer_of(case.entry.layer).needs_rdma:
        return "one message of a stream is under way at a time"
    return ""
