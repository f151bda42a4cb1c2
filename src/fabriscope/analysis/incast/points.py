"""The nouns of many to one: a point, a knee, a curve with its state."""

from __future__ import annotations

from dataclasses import dataclass

from fabriscope.analysis.curve import Curve
from fabriscope.analysis.incast.evidence import Evidence
from fabriscope.analysis.values.estimates import Centre
from fabriscope.analysis.words import size_text

HOLDS, COLLAPSES, UNFAIR, PAUSED, DROPPED, UNDECIDED = "holds", "collapses", "unfair", "paused", "dropped", "undecided"


@dataclass(frozen=True)
class Destination:
    """What came to one of several hosts that receive at once: medians over launches."""

    host: str
    stream_count: int
    aggregate: Centre
    slowest_bytes_per_s: float | None
    fairness: float | None
    """Of the streams to this host among each other."""
    dropped_frames: int | None
    """By the lab's switch on its way there, of all message sizes; None where no switch counts."""


@dataclass(frozen=True)
class IncastPoint:
    """One number of streams at one message size."""

    case_id: str
    stream_count: int
    aggregate: Centre
    limit_bytes_per_s: float | None
    slowest_bytes_per_s: float | None
    fairness: float | None
    skew_ns: float | None
    """Median over windows."""
    least_overlap: float | None
    launch_count: int
    refused_window_count: int
    """Whose streams overlapped too little: their sum is no aggregate."""
    evidence: Evidence
    destinations: tuple[Destination, ...] = ()
    """Of many to many; many to one has none beside the whole."""
    sending_host_count: int | None = None
    host_fairness: float | None = None
    """Jain's index of the hosts that send, each by the mean rate of its streams; None where it is the streams' own."""
    lacks_because: str = ""
    """Why there is no aggregate; empty where there is one."""
    carried_share: float | None = None
    """Of the wire, what the lab's switch delivered in the windows; None where nobody knows it, and for RDMA, which
    holds nothing back behind a frame that was lost."""

    waits_for: str = ""
    """What else than a slow machine leaves the wire empty, in words (waiting.py); empty where nothing is known."""

    @property
    def judged_fairness(self) -> float | None:
        """Return Jain's index by which streams are unfair to each other.

        Of the streams; where nothing was lost, of the hosts: a host's own queue divides what its streams have.
        """
        is_by_host = self.host_fairness is not None and not self.evidence.has_losses
        return self.host_fairness if is_by_host else self.fairness

    @property
    def share_of_limit(self) -> float | None:
        """Return the aggregate as a share of what the wire allows."""
        value = self.aggregate.value
        return value / self.limit_bytes_per_s if value is not None and self.limit_bytes_per_s else None


@dataclass(frozen=True)
class Knee:
    """From how many senders on the aggregate has fallen."""

    value: int
    low: int
    """It may have fallen from here on, by the intervals of the launches."""
    high: int | None
    """It has surely fallen here; None where no launch can tell."""


@dataclass(frozen=True)
class IncastCurve:
    """One fabric, layer and message size over the number of streams."""

    curve: Curve
    """Its ranks are those of the first point."""
    message_size_bytes: int
    points: tuple[IncastPoint, ...]
    knee: Knee | None
    state: str
    """HOLDS, COLLAPSES, UNFAIR, UNDECIDED, or it holds with senders PAUSED or frames DROPPED."""
    because: str
    """The evidence, in a clause."""
    receiver_count: int = 1

    @property
    def name(self) -> str:
        """Return how a sentence calls it."""
        to = f", to {self.receiver_count} hosts" if self.receiver_count > 1 else ""
        return f"{self.curve.label(ranks=False)}{to}, {size_text(self.message_size_bytes)}"

    @property
    def verdict(self) -> str:
        """Return the state in words: `collapses from 4 senders on`."""
        if self.state == COLLAPSES and self.knee is not None:
            return f"collapses from {self.knee.value} senders on"
        return {PAUSED: "holds, paused", DROPPED: "holds, with losses"}.get(self.state, self.state)

    @property
    def may_collapse(self) -> bool:
        """Return whether the aggregate falls, and the launches do not tell whether it did."""
        return self.state == UNFAIR and self.knee is not None

    def sentence(self) -> str:
        """Return the verdict with its evidence."""
        return f"{self.name}: {self.verdict}: {self.because}."
