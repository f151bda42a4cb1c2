"""Findings that somebody lives with: which, why, and until when."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from dataclasses import dataclass

from fabriscope.model.audit import Finding, Verdict
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.model.host_lists import unfolded


@dataclass(frozen=True)
class Accepted:
    """One finding that does not count until a day."""

    check: str
    reason: str
    until: datetime.date
    hosts: tuple[str, ...] = ()
    """Where; none: everywhere."""


def of(value: object, where: str) -> list[Accepted]:
    """Return what a decoded file accepts; raises ParseError, HostError for a host list that is none.

    A list of `{check: mtu-hosts-agree, hosts: node15, reason: it is being replaced, until: 2026-12-31}`.
    """
    return [_one(part) for part in Foreign(value, where).items()]


def _one(part: Foreign) -> Accepted:
    for key in part.mapping():
        if key not in ("check", "hosts", "reason", "until"):
            raise ParseError(f"{part.path}: {key!r} is no key of an accepted finding", where=part.where)
    reason, hosts = part.at("reason").text().strip(), part.get("hosts")
    if not reason:
        raise ParseError(f"{part.path}: the reason is empty", where=part.where, fix="say why it is accepted")
    until = part.at("until")
    try:
        day = until.value if isinstance(until.value, datetime.date) else datetime.date.fromisoformat(until.text())
    except ValueError:
        raise until.refuse("a day such as 2026-12-31") from None
    return Accepted(part.at("check").text(), reason, day, unfolded(hosts.text()) if hosts is not None else ())


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
    remarks += [f"{one.check}: accepted ({one.reason}), and not found" for at, one in enumerate(live) if at not in used]
    return dataclasses.replace(verdict, findings=tuple(findings)), remarks
