"""The ranks of a job, and by what else than connections they could move bytes: memory, pipes, devices, datagrams."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property

from fabriscope.model.counters import CHANNEL, RANK, Process, Watch

WIRE_UP_STORE = re.compile(
    r"/(?:pmix_dstor_(?:ds\d+_)?\d+/[^/]+|pmix-gds-shmem2?\.[^/]+|fabriscope-turns-[0-9a-f]{32})$"
)
"""What PMIx shares with ranks to tell them addresses, and our own programs to take turns, by the names that are made:
no message goes through it."""
VERBS_DEVICES = ("/dev/infiniband/uverbs", "/dev/hfi1", "/dev/cxi", "/dev/efa")
GRAPHICS_DEVICES = (*(f"/dev/nvidia{digit}" for digit in range(10)), "/dev/kfd", "/dev/dri/render")


class Ranks:
    """The ranks that were seen on all hosts, each as it was seen with most."""

    def __init__(self, watches: Mapping[str, Watch]) -> None:
        found: dict[tuple[str, int], Process] = {}
        for host, watch in watches.items():
            for reading in watch.readings:
                for one in reading.processes:
                    best = found.get((host, one.pid))
                    if one.role == RANK and (best is None or _wealth(one) >= _wealth(best)):
                        found[host, one.pid] = one
        self.all: list[tuple[str, Process]] = [(host, one) for (host, _), one in found.items()]
        """Host and process of every rank."""
        self._kernels = {host: watch.kernel for host, watch in watches.items()}
        self._with_datagrams = [host for host, watch in watches.items() if watch.has_datagrams]

    @cached_property
    def hosts(self) -> list[str]:
        """Return the hosts that have any, sorted."""
        return sorted({host for host, _ in self.all})

    @cached_property
    def is_parallel(self) -> bool:
        """Return whether they are several that were numbered by a launcher: then what counts is what they tell each
        other; of other programs everything counts."""
        return len([one for _, one in self.all if one.rank is not None]) > 1

    @cached_property
    def noun(self) -> str:
        """Return what they are called, one of them: a program without MPI has processes."""
        return "rank" if any(one.rank is not None for _, one in self.all) else "process"

    @property
    def nouns(self) -> str:
        """Return what several are called."""
        return "ranks" if self.noun == "rank" else "processes"

    @property
    def whole(self) -> str:
        """Return what all of them are called."""
        return "the ranks" if self.noun == "rank" else "the job's processes"

    @property
    def parties(self) -> str:
        """Return what all of them are called behind `between`."""
        return "ranks" if self.noun == "rank" else self.whole

    @cached_property
    def have_verbs(self) -> bool:
        """Return whether one has an RDMA device open; where no rank was seen, one may have."""
        return not self.all or bool(self.opened)

    @cached_property
    def opened(self) -> str:
        """Return which one has an RDMA device open, in words; empty if none has."""
        return self._who_has(VERBS_DEVICES)

    @cached_property
    def graphics(self) -> str:
        """Return which one has a graphics card open, in words; empty if none has."""
        return self._who_has(GRAPHICS_DEVICES)

    def _who_has(self, devices: tuple[str, ...]) -> str:
        found = ((host, name) for host, one in self.all for name in one.devices if name.startswith(devices))
        return next((f"a {self.noun} on {host} has {name} open" for host, name in found), "")

    def verbs_device(self, one: Process) -> str | None:
        """Return an RDMA device that a rank has open, None if it has none."""
        return next((name for name in one.devices if name.startswith(VERBS_DEVICES)), None)

    @cached_property
    def memory(self) -> list[tuple[str, set[tuple[str, int]]]]:
        """Return the identity of each memory that ranks have mapped, and who has: a file may have several names."""
        holders: dict[tuple[str, str], tuple[str, set[tuple[str, int]]]] = {}
        for host, one in self.all:
            for identity in one.shared_mappings:
                if not WIRE_UP_STORE.search(identity):
                    key = self._kernels[host], identity.partition(" ")[0]
                    holders.setdefault(key, (identity, set()))[1].add((host, one.pid))
        return list(holders.values())

    @cached_property
    def memory_inside(self) -> str:
        """Return a memory that ranks of one host share, empty for none."""
        for identity, who in self.memory:
            hosts = [host for host, _ in who]
            if len(set(hosts)) < len(hosts):
                return identity
        return ""

    @cached_property
    def may_share_inside(self) -> bool:
        """Return whether ranks of one host may share memory: a look may find it before the second one maps it."""
        hosts = [host for host, _ in self.all]
        return any(hosts.count(host) > 1 for _, who in self.memory for host, _ in who)

    @cached_property
    def channel(self) -> str:
        """Return what two ranks of one host hold the ends of, in words: a pipe or a Unix socket; empty for nothing."""
        held: dict[tuple[str, str], set[int]] = {}
        for host, one in self.all:
            mapped = {identity.partition(" ")[0] for identity in one.shared_mappings}
            for channel in one.channels:
                if channel.split()[1] not in mapped:  # else it is memory
                    held.setdefault((host, channel), set()).add(one.pid)
        for (host, channel), who in held.items():
            opened, end, inode, peer = CHANNEL.fullmatch(channel).groups()  # type: ignore[union-attr]
            other = f"{opened} read" if opened else f"unix {peer} to {inode}"
            if end != "read" and len(who | held.get((host, other), who)) > 1 and (host, other) in held:
                what = "Unix socket" if not opened else "pipe" if opened.startswith("pipe") else "file"
                return f"{self.nouns} of {host} share a {what}"
        return ""

    @cached_property
    def lone_pair(self) -> str:
        """Return which process without a rank's number, of several of its host, holds both ends of a Unix socket, in
        words: another one may have had one of them before, or since. Empty for none."""
        for host, one in self.all:
            ends = [text.split()[1:4:2] for text in one.channels if text.startswith("unix ")]
            is_one_of_several = one.rank is None and sum(name == host for name, _ in self.all) > 1
            if is_one_of_several and any([peer, end] in ends for end, peer in ends):
                return f"a process on {host} has both ends of a Unix socket, one of which another one may have had"
        return ""

    @cached_property
    def datagrams(self) -> str:
        """Return which one was seen with a socket for datagrams, in words; empty for none."""
        found = ((host, kind) for host, one in self.all for kind in one.datagrams)
        return next((f"a {self.noun} on {host} had a {kind.upper()} socket" for host, kind in found), "")

    @cached_property
    def short_datagrams(self) -> str:
        """Return where one had a socket for datagrams that nobody saw, in words; empty for nowhere."""
        return next((f"a {self.noun} on {host} had a UDP socket for a moment" for host in self._with_datagrams), "")

    def datagram_kinds(self, host: str) -> set[str]:
        """Return the kinds of sockets for datagrams that ranks of a host had."""
        seen = {kind for name, one in self.all if name == host for kind in one.datagrams}
        return seen | ({"udp"} if host in self._with_datagrams else set())


def memory_text(identity: str) -> str:
    """Return what people are told of a memory that processes have mapped: its file, without device and inode."""
    return f"memory ({identity.partition(' ')[2] or identity})"


def _wealth(one: Process) -> tuple[int, int]:
    return len(one.devices), len(one.shared_mappings)
