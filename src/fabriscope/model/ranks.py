"""Where the ranks of a launch are: how many, how many on each host, and in which order they are dealt out."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

BLOCK, CYCLIC = "block", "cyclic"
ARRANGEMENTS = (BLOCK, CYCLIC)
"""Neighbouring ranks share a host as long as it has room; or they go round the hosts in turn."""

TO_ONE = "to_one"
"""Rank 0 (or several that receive) on a host of its own, the others round the remaining hosts in turn."""

BESIDE = "beside"
"""Ranks 0 and 1 are a pair, and the others many to one beside it; hosts may be of both."""

_LABEL = re.compile(r"(?P<count>\d+)x(?P<per_host>\d+)(?P<cyclic>\.cyclic)?")
_TO_ONE_LABEL = re.compile(r"(?P<streams>\d+)to(?P<receivers>\d+)x(?P<sources>\d+)(?P<pair>\.victim[0-9x-]*)?")


@dataclass(frozen=True)
class Layout:
    """The number of ranks, equally many on each host; or one that receives, and senders round their hosts in turn."""

    rank_count: int
    ranks_per_host: int
    """Of TO_ONE the most on a sender's host."""
    arrangement: str = BLOCK
    source_count: int = 0
    """Hosts that send, of TO_ONE and BESIDE."""
    shared: str = ""
    """Of BESIDE: which of those hosts the pair's two are, as `-0-x`; nothing where both have hosts of their own."""
    receiver_count: int = 1
    """Ranks that receive, of TO_ONE: the first ones, each alone on its host, with equally many senders each."""

    @property
    def host_count(self) -> int:
        """Return over how many hosts the ranks are spread."""
        if self.arrangement == BESIDE:
            return self.source_count + 1 + (self.shared.count("x") if self.shared else 2)
        if self.arrangement == TO_ONE:
            return self.source_count + self.receiver_count
        return self.rank_count // self.ranks_per_host

    @property
    def ranks_with_first(self) -> int:
        """Return how many ranks are on the host of rank 0."""
        return 1 if self.arrangement in (TO_ONE, BESIDE) else self.ranks_per_host

    def hosts(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the host of each rank, over as many of the named hosts as are needed."""
        used = tuple(names[: self.host_count])
        if self.arrangement == TO_ONE:
            count = self.receiver_count
            sources = used[count:] * self.ranks_per_host
            return (*used[:count], *sources[: self.rank_count - count])
        if self.arrangement == CYCLIC:
            return used * self.ranks_per_host
        return tuple(name for name in used for _ in range(self.ranks_per_host))

    def label(self) -> str:
        """Return the part of an entry's id: `8x2` or `8x2.cyclic`; nothing for two ranks, which is what is usual."""
        if self.rank_count == 2:
            return ""
        if self.arrangement == TO_ONE:
            return f"{self.rank_count - self.receiver_count}to{self.receiver_count}x{self.source_count}"
        if self.arrangement == BESIDE:
            return f"{self.rank_count - 3}to1x{self.source_count}.victim{self.shared}"
        return f"{self.rank_count}x{self.ranks_per_host}" + (".cyclic" if self.arrangement == CYCLIC else "")

    def spread_text(self) -> str:
        """Return how they are spread, in words: `2 on each host`, `2 on each host, cyclic`."""
        if self.arrangement == TO_ONE:
            receive = "one receives" if self.receiver_count == 1 else f"{self.receiver_count} receive"
            return f"{receive}, the others on {self.source_count} host{'' if self.source_count == 1 else 's'}"
        if self.arrangement == BESIDE:
            return f"two beside {self.rank_count - 3} to one{', which share a host with it' if self.shared else ''}"
        words = f"{self.ranks_per_host} on each host" if self.host_count > 1 else "all on one host"
        return words + (", cyclic" if self.arrangement == CYCLIC else "")

    def text(self) -> str:
        """Return it in words: `8 ranks, 2 on each host, cyclic`."""
        words = f"{self.rank_count} ranks"
        return f"{words}, {self.spread_text()}" if self.host_count > 1 else words


def to_one(stream_count: int, host_count: int, receiver_count: int = 1) -> Layout:
    """Return the layout of so many streams to the first of some hosts, from as many of the others as it takes.

    With several that receive `stream_count` is of all of them together.
    """
    sources = max(1, min(stream_count, host_count - receiver_count))
    ranks = stream_count + receiver_count
    return Layout(ranks, -(-stream_count // sources), TO_ONE, sources, receiver_count=receiver_count)


def layout_of(rank_hosts: Sequence[str]) -> Layout:
    """Return the layout of ranks on hosts; raises ValueError unless it is block, cyclic or many to one."""
    names = tuple(dict.fromkeys(rank_hosts))
    for arrangement in ARRANGEMENTS:
        layout = Layout(len(rank_hosts), len(rank_hosts) // max(1, len(names)), arrangement)
        if names and layout.hosts(names) == tuple(rank_hosts):
            return layout
    if len(names) > 1 and (layout := to_one(len(rank_hosts) - 1, len(names))).hosts(names) == tuple(rank_hosts):
        return layout
    if found := beside(rank_hosts):
        return found
    raise ValueError(
        f"every host must have equally many ranks, host after host (a a b b) or in turn (a b a b), "
        f"not {' '.join(rank_hosts)}"
    )


def beside(rank_hosts: Sequence[str]) -> Layout | None:
    """Return the layout of a pair and many to one beside it; None for other hosts."""
    one, other, *rest = (*rank_hosts, "", "")
    names = tuple(dict.fromkeys(rest[:-2]))
    if len(names) < 2 or one == other or rest[0] in (one, other):
        return None
    to_rest = to_one(len(rest) - 3, len(names))
    if to_rest.hosts(names) != tuple(rest[:-2]):
        return None
    places = [str(names.index(host) - 1) if host in names else "x" for host in (one, other)]
    shared = "" if places == ["x", "x"] else f"-{places[0]}-{places[1]}"
    return Layout(to_rest.rank_count + 2, to_rest.ranks_per_host, BESIDE, to_rest.source_count, shared)


def layout_from(label: str) -> Layout:
    """Return the layout that a label names, for the usual two ranks one with one rank on each host."""
    if many := _TO_ONE_LABEL.fullmatch(label):
        receivers = int(many["receivers"])
        plain = to_one(int(many["streams"]), int(many["sources"]) + receivers, receivers)
        if many["pair"] is None:
            return plain
        shared = many["pair"].removeprefix(".victim")
        return Layout(plain.rank_count + 2, plain.ranks_per_host, BESIDE, plain.source_count, shared)
    match = _LABEL.fullmatch(label)
    if not match:
        return Layout(2, 1)
    return Layout(int(match["count"]), int(match["per_host"]), CYCLIC if match["cyclic"] else BLOCK)
