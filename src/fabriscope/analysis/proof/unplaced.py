"""Connections whose addresses tell no interface: of loopback, of several interfaces, or of one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from fabriscope.analysis.proof.flows import LOOPBACK, Flow
from fabriscope.analysis.proof.line import LEAST_COUNTED_BYTES, Line
from fabriscope.analysis.proof.routes import PLACED_SHARE
from fabriscope.analysis.proof.transfers import OUTWARD, RANKS, Transfer
from fabriscope.analysis.proof.wire import DIRECTIONS

SOURCE, TARGET = ("source", "out_interface"), ("target", "in_interface")
"""The two ends of a transfer: the fields that name host and interface."""


def places_of(lines: Sequence[Line], flows: Sequence[Flow]) -> dict[tuple[str, str], str]:
    """Return (direction, "") of one host to the only interface that can have counted what has no interface's address.

    Connections from an address on loopback, or one that several interfaces had, left by some interface all the same:
    by the one whose bytes have no owner otherwise, where there is just one that has enough of them.
    """
    found, few = {}, []
    for direction, _ in DIRECTIONS:
        is_out = direction == "out"
        open_ones = [one for one in flows if (one.out_interface if is_out else one.in_interface) == ""]
        size = sum(one.sent_bytes if is_out else one.received_bytes for one in open_ones)
        enough = [
            one.interface for one in lines if one.direction == direction and one.rest_bytes >= PLACED_SHARE * size
        ]
        if size < LEAST_COUNTED_BYTES:
            few.append(direction)
        elif len(enough) == 1 and enough[0] != LOOPBACK:
            found[direction, ""] = enough[0]
    for name in list(found.values())[:1]:  # what is too little to be found by itself goes where the rest goes
        found.update({(direction, ""): name for direction in few})
    return found


def without_unplaced(lines: Sequence[Line], flows: Sequence[Flow]) -> list[Line]:
    """Return the account less what connections of no known interface carried, which `places_of` could not tell.

    It went by those whose bytes have no owner otherwise: how much by each is sure where that is all they have.
    """
    found = list(lines)
    for direction, _ in DIRECTIONS:
        is_out = direction == "out"
        open_ones = [one for one in flows if (one.out_interface if is_out else one.in_interface) == ""]
        size = sum(one.sent_bytes + one.retransmitted_bytes if is_out else one.received_bytes for one in open_ones)
        here = [one for one in found if one.direction == direction and one.interface != LOOPBACK and one.rest_bytes > 0]
        rests = sum(one.rest_bytes for one in here)
        is_all = abs(rests - size) <= (1 - PLACED_SHARE) * size
        for line in here if size else []:
            part = min(line.rest_bytes, round(size * line.rest_bytes / rests))
            told = replace(line, rest_bytes=line.rest_bytes - part)
            told = (
                replace(told, unplaced_bytes=part) if is_all else replace(told, unsure_bytes=line.unsure_bytes + part)
            )
            found[found.index(line)] = told
    return found


def spread(transfers: Sequence[Transfer], lines: Sequence[Line]) -> list[Transfer]:
    """Return the transfers, each of no known interface in parts: by those that have its bytes (`without_unplaced`).

    All such connections of a host together have these shares: nothing is told where somebody else has one there.
    """
    out, into = (_shares_of(transfers, lines, direction, end) for direction, end in (("out", SOURCE), ("in", TARGET)))
    found = []
    for one in transfers:
        leaving = out.get(one.source, {}) if one.out_interface == "" else {}
        coming = into.get(one.target, {}) if one.in_interface == "" else {}
        pairs = _paired(leaving or {one.out_interface: 1.0}, coming or {one.in_interface: 1.0})
        if one.space or not (leaving or coming):
            found.append(one)
            continue
        found += [
            replace(one, out_interface=left, in_interface=came, size_bytes=round(share * one.size_bytes))
            for (left, came), share in pairs.items()
        ]
    return found


def _shares_of(
    transfers: Sequence[Transfer], lines: Sequence[Line], direction: str, end: tuple[str, str]
) -> dict[str, dict[str | None, float]]:
    """Return host to interface to its share of what has no known interface in one direction."""
    host_of, interface_of = attrgetter(end[0]), attrgetter(end[1])
    mixed = {host_of(one) for one in transfers if interface_of(one) == "" and one.kind not in (RANKS, OUTWARD)}
    found: dict[str, dict[str | None, float]] = {}
    for line in lines:
        if line.direction == direction and line.unplaced_bytes and line.host not in mixed:
            found.setdefault(line.host, {})[line.interface] = line.unplaced_bytes
    return {host: {name: size / sum(sizes.values()) for name, size in sizes.items()} for host, sizes in found.items()}


def _paired(
    leaving: Mapping[str | None, float], coming: Mapping[str | None, float]
) -> dict[tuple[str | None, str | None], float]:
    """Return pairs of interfaces to shares that add up to both: those of the same name belong together first."""
    left, came = dict(leaving), dict(coming)
    found: dict[tuple[str | None, str | None], float] = {}
    pairs = [(one, one) for one in left if one in came] + [(one, other) for one in left for other in came]
    for one, other in pairs:
        share = min(left[one], came[other])
        if share > 0:
            found[one, other] = found.get((one, other), 0.0) + share
            left[one] -= share
            came[other] -= share
    return found
