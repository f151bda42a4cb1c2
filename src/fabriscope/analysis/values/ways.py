"""Which wires streams share: the ports of hosts, and the cable between two switches, each direction for itself."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

from fabriscope.model.case import Entry
from fabriscope.model.host_lists import unfolded
from fabriscope.model.lab import SwitchSpec

THERE, BACK = "switch1>switch2", "switch2>switch1"
"""The cable between two switches in a row, by direction, as the lab's switch calls it."""


def stream_pairs(entry: Entry) -> tuple[tuple[str, str], ...]:
    """Return who sends to whom, a pair of hosts for each stream: the senders of each that receives follow one another.

    Of a bystander's entry, the streams beside it.
    """
    hosts = entry.hosts[2:] if entry.victim else entry.hosts
    receivers, senders = hosts[: entry.receivers], hosts[entry.receivers :]
    each = max(1, len(senders) // entry.receivers)
    return tuple((sender, receivers[min(place // each, len(receivers) - 1)]) for place, sender in enumerate(senders))


def cables_of(entry: Entry, switch: SwitchSpec | None) -> tuple[str, ...]:
    """Return the directions of the cable between the switches that an entry's streams cross; nothing without one."""
    behind = _behind_second(switch)
    sides = {(sender in behind, receiver in behind) for sender, receiver in stream_pairs(entry)} if behind else set()
    return tuple(name for name, crossing in ((THERE, (False, True)), (BACK, (True, False))) if crossing in sides)


def wire_count(entry: Entry, switch: SwitchSpec | None) -> int:
    """Return how many wires bound what an entry's streams have together.

    The ports of those that receive, or of those that send where they are fewer; of hosts behind different switches
    those of the streams that stay with one switch, and a wire for each direction of the cable.
    """
    pairs, behind = stream_pairs(entry), _behind_second(switch)
    if not behind:
        return _ports(pairs)
    of_sides = ([pair for pair in pairs if (pair[0] in behind, pair[1] in behind) == (side, side)] for side in (0, 1))
    return min(_ports(pairs), sum(_ports(of_side) for of_side in of_sides) + len(cables_of(entry, switch)))


def _ports(pairs: Collection[tuple[str, str]]) -> int:
    return min(len({sender for sender, _ in pairs}), len({receiver for _, receiver in pairs}))


def _behind_second(switch: SwitchSpec | None) -> frozenset[str]:
    return _hosts(switch.queues.second_switch) if switch is not None else frozenset()


@lru_cache(maxsize=16)
def _hosts(text: str) -> frozenset[str]:
    return frozenset(unfolded(text)) if text else frozenset()
