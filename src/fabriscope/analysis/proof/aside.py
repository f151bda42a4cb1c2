"""What went past what was asked for, though not from rank to rank: by the job, by launchers, by those it talks to."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.analysis.proof.evidence import ELSEWHERE_SHARE, WIRE_UP_BYTES, Evidence, carrier_name
from fabriscope.analysis.proof.line import HOUSEKEEPING_BYTES, LEAST_COUNTED_BYTES
from fabriscope.analysis.words import bytes_text
from fabriscope.model.counters import BESIDE, CONFIDANT, JOB

_CONFIDANTS_MOVED = "launchers and others that the job talks to, or may have started, moved"


def carriers_beside(evidence: Evidence, *, even_asked: bool = False) -> dict[str, int]:
    """Return carrier to what the job moved though not from rank to rank, past what was asked for or anywhere."""
    return _past(evidence, BESIDE, even_asked=even_asked)


def beside(evidence: Evidence) -> str:
    """Return what the job moved elsewhere though not from rank to rank, if that is not little.

    It is a copy beside the ranks, or what a rank and somebody else's process tell each other.
    """
    return _aside(evidence, _past(evidence, BESIDE), "the job also moved", _past_whom(evidence))


def _past_whom(evidence: Evidence) -> str:
    is_within = not evidence.ranks.is_parallel and not evidence.is_between_hosts
    return "to other hosts" if is_within else "though not from rank to rank"


def little_beside(evidence: Evidence) -> str:
    """Return what the job moved past what was asked for, though not from rank to rank, where it is too little to refute
    and too much to be nothing.

    Of memory no counter knows how much it carried: little elsewhere may be most of it.
    """
    least = LEAST_COUNTED_BYTES if evidence.expected.transport == "shm" else HOUSEKEEPING_BYTES
    return _aside(evidence, _past(evidence, BESIDE), "the job also moved", _past_whom(evidence), least)


def confided(evidence: Evidence) -> str:
    """Return what services moved elsewhere that the job talks to."""
    return _aside(evidence, _past(evidence, CONFIDANT), _CONFIDANTS_MOVED, "which may be the job's")


def handed_on(evidence: Evidence) -> str:
    """Return what left the host by services that the job talks to, where nothing else of the job's did."""
    if evidence.expected.transport == "shm":
        return ""
    return _aside(evidence, _left(evidence), _CONFIDANTS_MOVED, "which may be the job's")


def launched(evidence: Evidence) -> str:
    """Return what launchers told each other elsewhere: more than their own words is what ranks print or read."""
    return _aside(evidence, _past(evidence, JOB), "launchers told each other", "as they pass on what ranks print")


def _aside(evidence: Evidence, moved: Mapping[str, int], whose: str, why: str, least_bytes: int = WIRE_UP_BYTES) -> str:
    found, size = evidence.found, sum(moved.values())
    if not evidence.expected.transport or evidence.expected.payload_bytes is not None:
        return ""
    if size < max(least_bytes, ELSEWHERE_SHARE * (found.asked_bytes + found.elsewhere_bytes + size)):
        return ""
    return f"{whose} {bytes_text(size)} by {' and '.join(moved)}, {why}"


def _left(evidence: Evidence) -> dict[str, int]:
    """Return carrier to what left the host by those that the job talks to, where it itself sent nothing out."""
    found: dict[str, int] = {}
    for one in evidence.aside:
        if one.kind == CONFIDANT and one.source != one.target and not evidence.is_between_hosts:
            found[carrier_name(one)] = found.get(carrier_name(one), 0) + one.size_bytes
    return found


def _past(evidence: Evidence, kind: str, *, even_asked: bool = False) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in evidence.aside:
        is_asked = evidence.expected.transport == one.carrier and evidence.is_on_fabric(one)
        is_between = one.source != one.target
        is_judged = is_between == evidence.is_between_hosts or (evidence.asks_for_what_stays and is_between)
        if one.kind == kind and is_judged and (even_asked or not is_asked):
            found[carrier_name(one)] = found.get(carrier_name(one), 0) + one.size_bytes
    return found
