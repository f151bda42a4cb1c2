"""What interfaces count of what came in that IP does not: the link's header of each frame, and pauses."""

from __future__ import annotations

from typing import NamedTuple

from fabriscope.analysis.proof.headers import ETHERNET_BYTES

PAUSE_BYTES = 46
"""Of a frame without its link header that asks for a pause, the shortest that Ethernet has."""
TOLERANCE = 0.05
"""Of the bytes of such frames: what the kernel joined before IP saw it lacks headers of TCP and IP, 40 or 52 each."""


class BesideIp(NamedTuple):
    """What came in beside the packets of IP."""

    link_bytes: int
    """The link's header in what interfaces count of a frame: some drivers leave it out."""
    pauses: int
    """Beside RoCE: each is as long as the headers of one of its packets, to two bytes."""


def beside_ip(surplus_bytes: int | None, packets: int, missing: int | None) -> BesideIp:
    """Tell headers from pauses by how many bytes more interfaces counted than IP, in how many packets.

    `missing` is how many more packets they counted; None of either where IP does not tell.
    """
    if surplus_bytes is None:
        return BesideIp(ETHERNET_BYTES, 0)
    pauses = max(0, missing or 0)
    beyond = surplus_bytes - PAUSE_BYTES * pauses
    if min(abs(beyond), abs(beyond - ETHERNET_BYTES * packets)) > TOLERANCE * PAUSE_BYTES * pauses:
        pauses, beyond = 0, surplus_bytes
    return BesideIp(0 if abs(beyond) < ETHERNET_BYTES * (packets - pauses) / 2 else ETHERNET_BYTES, pauses)
