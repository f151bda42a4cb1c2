"""What carried the bytes of a job, way by way, and how well the accounts of those interfaces close."""

from __future__ import annotations

from collections.abc import Sequence

from fabriscope.analysis.proof import datagrams as books_datagrams
from fabriscope.analysis.proof.evidence import LEAST_PORT_BYTES, Evidence
from fabriscope.analysis.proof.expected import port_kind
from fabriscope.analysis.proof.transfers import UNCLEAR, Transfer
from fabriscope.analysis.proof.wire import Port
from fabriscope.analysis.words import bytes_text
from fabriscope.model.counters import Carrier

USED_SHARE = 0.1
"""Less of what is judged than this makes no interface one that carried it."""


def carriers(evidence: Evidence) -> tuple[Carrier, ...]:
    """Return what each way out of each host carried between ranks."""
    moved: dict[tuple[str, str, str], list[int]] = {}
    for one in evidence.transfers:
        if one.kind == UNCLEAR and evidence.expected.payload_bytes is None:
            continue
        for host, name, place in ((one.source, one.out_interface, 0), (one.target, one.in_interface, 1)):
            if name is not None and host in evidence.watches:
                by = _port_over(evidence, host, name) if one.carrier == "iwarp" else name
                moved.setdefault((host, one.carrier, by), [0, 0])[place] += one.size_bytes
    for line in evidence.lines:  # of datagrams a host's own account tells what came in
        if line.datagram_bytes and line.direction == "in":
            moved.setdefault((line.host, books_datagrams.UDP, line.interface), [0, 0])[1] = line.datagram_bytes
    found = [Carrier(*key, *both) for key, both in sorted(moved.items()) if any(both)]
    if evidence.have_verbs:
        found += [
            Carrier(one.host, _spoken(evidence, one), one.name, one.sent_bytes, one.received_bytes)
            for one in evidence.ports
            if max(one.sent_bytes, one.received_bytes) >= LEAST_PORT_BYTES
        ]
    shared = ", ".join(evidence.shared)
    return (*found, *(Carrier(host, "shm", shared, None, None) for host in evidence.ranks.hosts if shared))


def carried_text(name: str, size_bytes: int) -> str:
    """Return what carried how much: `tcp over eth0 carried nothing`."""
    return f"{name} carried {bytes_text(size_bytes) if size_bytes else 'nothing'}"


def closure_error(evidence: Evidence, *, is_refuted: bool = False) -> float | None:
    """Return the worst error of the interfaces that carried what is judged; of all of them where none did.

    A refutation rests on what went past what was asked for: where something did, its interfaces alone count.
    """
    judged = [one for one in evidence.transfers if evidence.is_judged(one)]
    past = [one for one in judged if not evidence.is_asked(one)] if is_refuted else []
    used = _used(evidence, past or judged)
    if past:
        asked = {*evidence.expected.interfaces.items()}
        used = {key for key in used if key[:2] not in asked} or used
    carried = [one.error for one in evidence.lines if (one.host, one.interface, one.direction) in used]
    return max((error for error in carried if error is not None), default=evidence.worst_error)


def _used(evidence: Evidence, transfers: Sequence[Transfer]) -> set[tuple[str, str, str]]:
    """Return host, interface and direction of what carried a tenth or more of them, and of software's RDMA."""
    moved: dict[tuple[str, str, str], int] = {}
    for one in transfers:
        for key in ((one.source, one.out_interface, "out"), (one.target, one.in_interface, "in")):
            if key[1]:
                moved[key[0], key[1], key[2]] = moved.get((key[0], key[1], key[2]), 0) + one.size_bytes
    for port in evidence.ports:
        if port.is_software and evidence.have_verbs:
            for way, size in (("out", port.sent_bytes), ("in", port.received_bytes)):
                moved[port.host, port.interface, way] = moved.get((port.host, port.interface, way), 0) + size
    most = max(moved.values(), default=0)
    return {key for key, size in moved.items() if size and size >= USED_SHARE * most}


def _spoken(evidence: Evidence, port: Port) -> str:
    asked = evidence.expected.transport
    return asked if evidence.is_asked_port(port) else port_kind(port.name, evidence.watches[port.host])


def _port_over(evidence: Evidence, host: str, interface: str) -> str:
    """Return the port of siw that is over an interface."""
    ports = [one for one in evidence.ports if one.host == host and one.is_connections]
    return next((one.name for one in ports if one.interface in (interface, "")), interface)
