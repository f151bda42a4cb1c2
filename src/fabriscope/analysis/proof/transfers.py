"""What connections carried from host to host, and which of them ran between ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabriscope.analysis.proof.flows import Flow
from fabriscope.analysis.proof.mirrors import key_of, mirrors_of
from fabriscope.model.counters import BESIDE, CONFIDANT, JOB, OTHER, RANK, UNHELD, UNSEEN

RANKS, OUTWARD, UNCLEAR, OTHERS = "ranks", "outward", "unclear", "others"
"""Between two ranks; between the job and somebody else; perhaps (no holder was seen of an end); certainly not the
job's. BESIDE: the job's, but neither, where ranks are judged by what they tell each other. CONFIDANT: of somebody whom
the job talks to, or of a launcher and somebody else."""


@dataclass(frozen=True)
class Transfer:
    """What a connection carried in one direction, from host to host."""

    source: str
    target: str
    size_bytes: int
    out_interface: str | None
    """None where this end was not seen."""
    in_interface: str | None
    kind: str
    """RANKS, OUTWARD, UNCLEAR, BESIDE, CONFIDANT, JOB (launchers among themselves) or OTHERS."""
    is_loopback: bool
    with_whom: str = ""
    """Of OUTWARD the other end, in words."""
    carrier: str = "tcp"
    """`tcp`, or `udp`: then of all datagrams together."""
    space: str = ""
    """The network namespace of the job's in which this connection was seen; empty for the host's."""


def transfers_of(flows: Mapping[str, list[Flow]], hosts: Mapping[str, str], *, is_parallel: bool) -> Iterator[Transfer]:
    """Yield what went from host to host; `hosts` is address to host.

    A host that was not watched is called by its address; what launchers and others told it is left out. The
    ranks of a parallel job are judged by what they tell each other.
    """
    ends = {key_of(one): one for every in flows.values() for one in every}
    mirrors = mirrors_of(ends, hosts)
    for key, one in ends.items():
        peer, mirror = one.host if one.is_loopback else hosts.get(one.remote[0]), mirrors.get(key)
        if peer is None and one.role in (JOB, OTHER):
            continue
        # Of whom nobody saw the holder it is open whether it is the job's, wherever it went.
        other = one.role and OTHER if peer is None else mirror.role if mirror else ""
        role, other = _seen(one.role, other), _seen(other, one.role)
        kind = _kind(role, other, one.is_loopback, is_parallel)
        target = peer or one.remote[0]
        whom = ""
        if kind == OUTWARD:
            whom = (
                f"{target} (not watched)"
                if peer is None
                else not_the_jobs(peer if role in (RANK, BESIDE) else one.host)
            )
        into = mirror.in_interface if mirror else None
        # The end of a connection may count as a byte that came in: what was acknowledged is exact then.
        came = mirror.received_bytes if mirror else 0
        size = one.sent_bytes if came - one.sent_bytes == 1 else max(one.sent_bytes, came)
        yield Transfer(
            one.host, target, size, one.out_interface, into, kind, one.is_loopback, whom, space=one.space
        )  # fmt: skip
        if mirror is None:
            came_by = one.in_interface
            yield Transfer(
                target, one.host, one.received_bytes, None, came_by, kind, one.is_loopback, whom, space=one.space
            )  # fmt: skip


def not_the_jobs(host: str) -> str:
    """Return in words who on a host is at the other end of the job's connections."""
    return f"other processes on {host}"


def _seen(role: str, other: str) -> str:
    """Return the role of an end; of what was UNSEEN many small parts may be a copy to or from somebody else."""
    if role == UNHELD:
        return "" if other in (JOB, UNSEEN) else RANK
    if role != UNSEEN:
        return role
    return RANK if other in (OTHER, CONFIDANT) else ""


def _kind(role: str, other: str, is_loopback: bool, is_parallel: bool) -> str:
    known = {role, other}
    if not is_parallel:  # a shell that opens connections itself, a program beside another one: all of it is the job
        known = {RANK if one == BESIDE else one for one in known}
    if CONFIDANT in known and RANK not in known and BESIDE not in known:
        return CONFIDANT
    known = {OTHER if one == CONFIDANT else one for one in known}
    # What a rank says to another host it says to a rank: daemons of its own host speak to the others'.
    if known == {RANK} or (known == {RANK, ""} and not is_loopback):
        return RANKS
    if known == {RANK, OTHER}:
        return BESIDE if is_parallel else OUTWARD
    if JOB in known and known <= {JOB, OTHER, ""} and len(known) > 1:  # a launcher that talks to others may be none
        return CONFIDANT
    if known == {RANK, JOB} and not is_parallel:  # a daemon that the job started (sshd) is none of a launcher's
        return RANKS
    if BESIDE in known:
        return BESIDE
    if known == {JOB}:
        return JOB
    return UNCLEAR if known <= {RANK, ""} else OTHERS
