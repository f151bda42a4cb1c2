"""Findings that somebody lives with: which, why, and until when."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from fabriscope.model.audit import Finding, Verdict
from fabriscope.model.errors import HostError, ParseError
from fabriscope.model.foreign import Foreign, shown
from fabriscope.model.host_lists import unfolded


@dataclass(frozen=True)
class Accepted:
    """One finding that does not count until a day."""

    check: str
    reason: str
    until: datetime.date
    hosts: tuple[str, ...] = ()
    """Where; none: everywhere."""


_FIX = "write `- {check: governor, hosts: node15, reason: it is being replaced, until: 2026-12-31}`"


def of(value: object, where: str, known: Collection[str], lines: Sequence[int] = ()) -> list[Accepted]:
    """Return what a decoded file accepts of the known checks; raises ParseError.

    A list of `{check: mtu-hosts-agree, hosts: node15, reason: it is being replaced, until: 2026-12-31}`, and for the
    errors the line on which each begins.
    """
    found = []
    try:
        for at, part in enumerate(Foreign(value, where).items()):
            placed = dataclasses.replace(part, where=f"{where}: line {lines[at]}") if at < len(lines) else part
            found.append(_one(placed, known))
    except ParseError as error:
        raise ParseError(error.what, where=error.where, fix=error.fix or _FIX) from error
    return found


def _one(part: Foreign, known: Collection[str]) -> Accepted:
    for key in part.mapping():
        if key not in ("check", "hosts", "reason", "until"):
            raise ParseError(f"{part.path}: {key!r} is no key of an accepted finding", where=part.where)
    reason, hosts = part.at("reason").text().strip(), part.get("hosts")
    if not reason:
        raise ParseError(f"{part.path}: the reason is empty", where=part.where, fix="say why it is accepted")
    until, check = part.at("until"), part.at("check")
    if check.text() not in known:
        what = f"{check.path}: there is no check {shown(check.text())}"
        raise ParseError(what, where=part.where, fix="`fabriscope audit --list` names them")
    try:
        is_day = isinstance(until.value, datetime.date) and not isinstance(until.value, datetime.datetime)
        day = until.value if is_day else datetime.date.fromisoformat(until.text())
    except ValueError:
        raise until.refuse("a day such as 2026-12-31") from None
    try:
        return Accepted(check.text(), reason, day, unfolded(hosts.text()) if hosts is not None else ())
    except HostError as error:
        raise ParseError(f"{part.path}: {error.what}", where=part.where, fix=error.fix) from error


def applied(verdict: Verdict, accepted: Sequence[Accepted], today: datetime.date) -> tuple[Verdict, list[str]]:
    """Return the verdict with its accepted findings marked, and in sentences what is past, or not found.

    A finding of several hosts of which some are accepted becomes two.
    """
    remarks = [
        f"{one.check}: accepted until {one.until} ({one.reason}), and that is past"
        for one in accepted
        if one.until < today
    ]
    live = [one for one in accepted if one.until >= today]
    used: set[int] = set()
    findings: list[Finding] = []
    for finding in verdict.findings:
        left = list(finding.hosts)
        for at, one in enumerate(live):
            hosts = [host for host in left if not one.hosts or host in one.hosts] if one.check == finding.check else []
            if hosts:
                used.add(at)
                why = f"{one.reason} (until {one.until})"
                findings.append(dataclasses.replace(finding, hosts=tuple(hosts), accepted_because=why))
                left = [host for host in left if host not in hosts]
        if left:
            findings.append(dataclasses.replace(finding, hosts=tuple(left)))
    made = {*verdict.passed, *(one.check for one in findings)} - {one.check for one in verdict.unseen}
    unfound = [one for at, one in enumerate(live) if at not in used and one.check in made]
    remarks += [f"{one.check}: accepted ({one.reason}), and not found" for one in unfound]
    return dataclasses.replace(verdict, findings=tuple(findings)), remarks
