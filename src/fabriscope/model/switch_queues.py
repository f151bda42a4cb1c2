"""What makes an emulated switch one with priorities: queues, pauses, marks, a shared buffer, a second switch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated

from fabriscope.model.limits import Share, SizeBytes, Within

PRIORITIES = 8
DSCPS = 64
MOST_ALPHA = 1000.0


@dataclass(frozen=True)
class SwitchQueues:
    """Queues by priority; with every field at its default there is one queue for each port."""

    pfc: str = ""
    """The priorities that are paused instead of dropped (IEEE 802.1Qbb), as `3/4`."""
    xoff_bytes: SizeBytes | None = None
    """Of each port and such a priority: above it the other end is stopped. None: alpha times what is free of a shared
    buffer, else half of the port's buffer."""
    xon_bytes: SizeBytes | None = None
    """At which it goes on; None: at half of that."""
    headroom_bytes: SizeBytes | None = None
    """For what is on its way meanwhile, beyond the buffer; None: what full frames need on this cable."""
    shared_buffer_bytes: SizeBytes = 0
    """Of all queues together; 0: each queue has the port's buffer to itself."""
    alpha: Annotated[float, Within(0, MOST_ALPHA)] = 1.0
    """A queue may hold alpha times what is free of the shared buffer (Choudhury and Hahne)."""
    ecn_min_bytes: SizeBytes | None = None
    """Frames that find more than this in their queue may be marked (RFC 3168); None: none is."""
    ecn_max_bytes: SizeBytes | None = None
    """Those that find more than this always are."""
    ecn_probability: Share = 1.0
    """The chance of a mark just below it."""
    scheduler: str = "strict"
    """`strict` (the highest priority first) or `fair` (equally many bytes of each)."""
    dscp: str = ""
    """Which priority a DSCP has, as `26:3/48:6`; others have their upper three bits."""
    second_switch: str = ""
    """Hosts that are behind a second switch, one cable further, as `node3,node4`."""

    @property
    def has_queues(self) -> bool:
        """Return whether anything of this is asked for."""
        return any(getattr(self, name) != getattr(SwitchQueues(), name) for name in SwitchQueues.__dataclass_fields__)


QUEUE_FIELDS = tuple(SwitchQueues.__dataclass_fields__)


def _bytes(what: str) -> Callable[[object], str]:
    def words(value: object) -> str:
        return f"{what} {value} B"

    return words


_WORDS: Mapping[str, Callable[[object], str]] = {
    "pfc": lambda value: f"pauses by priority: {str(value).replace('/', ', ')} (PFC)",
    "xoff_bytes": _bytes("XOFF above"),
    "xon_bytes": _bytes("XON at"),
    "headroom_bytes": _bytes("headroom"),
    "shared_buffer_bytes": _bytes("shared buffer"),
    "alpha": lambda value: f"alpha {value:g}",
    "ecn_min_bytes": _bytes("marks (ECN) above"),
    "ecn_max_bytes": _bytes("marks all above"),
    "ecn_probability": lambda value: f"mark probability up to {value:g}",
    "scheduler": lambda value: f"scheduler {value}",
    "dscp": lambda value: f"priorities of DSCPs {value}",
    "second_switch": lambda value: f"behind a second switch: {value}",
}


def queue_words(switch: Mapping[str, object]) -> list[str]:
    """Return what differs from one queue a port, for people; `switch` holds fields of SwitchQueues, or some of them."""
    usual = SwitchQueues()
    return [
        words(switch[name])
        for name, words in _WORDS.items()
        if name in switch and switch[name] is not None and switch[name] != getattr(usual, name)
    ]
