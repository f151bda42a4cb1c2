"""What was found of a job's payload: on what was asked for, elsewhere, and where it is not clear."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Found:
    """Bytes that may be the job's payload, between the pairs of hosts that are judged."""

    asked: dict[tuple[str, str], int] = field(default_factory=dict)
    """On what was asked for, from host to host."""
    asked_out: dict[str, int] = field(default_factory=dict)
    """On the RDMA ports that were asked for, by host."""
    asked_in: dict[str, int] = field(default_factory=dict)
    elsewhere: dict[str, int] = field(default_factory=dict)
    """Carrier in words to bytes between ranks."""
    unclear: dict[str, int] = field(default_factory=dict)
    """Likewise, of connections of which no holder was seen, or of which it is open by what interface they went."""
    unplaced: dict[str, int] = field(default_factory=dict)
    """The latter alone."""
    unclear_asked_bytes: int = 0
    """Of `unclear`, what went by what was asked for."""

    @property
    def asked_bytes(self) -> int:
        """Return everything on what was asked for."""
        return sum(self.asked.values()) + sum(self.asked_out.values())

    @property
    def elsewhere_bytes(self) -> int:
        """Return everything between ranks on what was not asked for."""
        return sum(self.elsewhere.values())
