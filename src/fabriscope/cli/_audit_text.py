"""What an audit came to, as text for a terminal, as JSON, JUnit XML and SARIF."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import groupby
from xml.etree import ElementTree

import click

from fabriscope import __version__
from fabriscope.audit.check import Check
from fabriscope.model.audit import SEVERITIES, Finding, Unseen, Verdict
from fabriscope.model.counting import counted
from fabriscope.model.counting import listed as listed_words
from fabriscope.model.errors import printable
from fabriscope.model.host_lists import folded

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}
MOST_CHARACTERS = 160
MOST_PORTS = 3
"""That are named where many lack the same."""
NOTHING = "nothing was looked at"
_OF_A_PORT = re.compile(r"(no saved output of .* tells .*) of (\S+)")
"""Why a fact of a switch's port is unknown (audit/place.py)."""


def shown(
    form: str, verdict: Verdict, checks: Mapping[str, Check], remarks: Sequence[str], unread: Sequence[str] = ()
) -> str:
    """Return a verdict in one of the forms that the command offers; `unread`: hosts and outputs, and why.

    In text they stand on standard error. A reader of a file alone must not take what nobody saw for passed.
    """
    if form == "text":
        return _as_text(verdict, checks, remarks)
    told = [*unread, *([NOTHING] if verdict.is_empty else [])]
    if form == "json":
        return _as_json(verdict, checks, remarks, told)
    return _as_sarif(verdict, checks, told) if form == "sarif" else _as_junit(verdict, checks, told)


def listed(checks: Mapping[str, Check]) -> str:
    """Return a line for each check: its name, its severity, and what should be so."""
    width = max(map(len, checks))
    return "".join(f"{name:{width}}  {one.severity:7}  {one.asks}\n" for name, one in checks.items())


def _as_text(verdict: Verdict, checks: Mapping[str, Check], remarks: Sequence[str]) -> str:
    """Return findings by path, what is accepted, and last what could not be seen."""
    lines: list[str] = []
    counting = sorted(verdict.counting, key=lambda one: one.path)
    for path, findings in groupby(counting, key=lambda one: one.path):
        lines.append(click.style(printable(path), bold=True))
        for one in findings:
            lines += [*_finding(one, checks[one.check]), ""]
    for one in verdict.findings:
        if one.accepted_because:
            lines.append(
                printable(f"accepted: {one.check} of {_where(one.hosts)}: {one.what} -- {one.accepted_because}")
            )
    lines += [printable(remark) for remark in remarks]
    lines += _unseen(verdict.unseen)
    lines.append(_summary(verdict))
    return "\n".join(lines) + "\n"


def _finding(one: Finding, check: Check) -> list[str]:
    head = click.style(one.severity, fg=_COLOURS[one.severity])
    cells = [(seen.where, seen.fact, _short(seen.value), seen.told_by) for seen in one.witnesses]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    rows = [
        "      " + "  ".join(f"{printable(text):{width}}" for text, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return [
        f"  {head}  {printable(one.what)}: {_where(one.hosts)}",
        *rows,
        f"      why     {check.why}",
        f"      remedy  {printable(one.remedy)}",
        f"      check   {one.check} ({check.source})",
    ]


def _short(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if len(line) <= MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]}..."


def _where(hosts: Sequence[str]) -> str:
    return printable(folded(hosts))


def _unseen(unseen: Sequence[Unseen]) -> list[str]:
    """Return what could not be seen: a line for each reason, with the checks that it hinders."""
    if not unseen:
        return []
    by_reason: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for one in unseen:
        by_reason.setdefault((one.reason, one.hosts), []).append(one.check)
    together: dict[tuple[str, str, str], list[str]] = {}  # ports of one device that lack the same are one line
    for (reason, hosts), names in by_reason.items():
        match = _OF_A_PORT.fullmatch(reason)
        what, port = (match[1], match[2]) if match else (reason, "")
        together.setdefault((what, _where(hosts), ", ".join(dict.fromkeys(names))), []).append(port)
    rows = [
        f"  {_short(f'{what} of {_ports(ports)}' if ports[0] else what)} ({where}): {hindered}"
        for (what, where, hindered), ports in together.items()
    ]
    return [click.style("could not be seen", bold=True), *rows, ""]


def _ports(names: Sequence[str]) -> str:
    rest = len(names) - MOST_PORTS
    if rest <= 0:
        return listed_words([*names])
    return f"{len(names)} ports: {', '.join(names[:MOST_PORTS])} and {counted(rest, 'other')}"


def _summary(verdict: Verdict) -> str:
    counts = [(sum(one.severity == severity for one in verdict.counting), severity) for severity in SEVERITIES]
    said = [f"{count} {word}{'s' if count != 1 else ''}" for count, word in counts if count]
    unknown = len({one.check for one in verdict.unseen})
    well = NOTHING if verdict.is_empty else "no finding" if verdict.unseen else "nothing is wrong"
    return (
        f"{', '.join(said) or well}; {len(verdict.passed)} checks passed,"
        f" {unknown} could not be made everywhere, {len(verdict.idle)} had nothing to look at"
    )


def _as_json(verdict: Verdict, checks: Mapping[str, Check], remarks: Sequence[str], unread: Sequence[str]) -> str:
    findings = [
        {**asdict(one), "why": checks[one.check].why, "source": checks[one.check].source} for one in verdict.findings
    ]
    whole = {
        "findings": findings,
        "unseen": [asdict(one) for one in verdict.unseen],
        "passed": verdict.passed,
        "idle": verdict.idle,
        "remarks": list(remarks),
        "unread": list(unread),
    }
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"


def _as_junit(verdict: Verdict, checks: Mapping[str, Check], unread: Sequence[str]) -> str:
    """Return a case for each check that was made: a finding is a failure, what could not be seen is skipped."""
    suite = ElementTree.Element("testsuite", name="fabriscope audit")
    findings = {name: list(found) for name, found in groupby(sorted(verdict.counting, key=_check), key=_check)}
    hidden = {name: list(found) for name, found in groupby(sorted(verdict.unseen, key=_check), key=_check)}
    reasons: dict[str, list[str]] = {name: [one.reason for one in found] for name, found in hidden.items()}
    for one in verdict.findings:
        if one.accepted_because:
            reasons.setdefault(one.check, []).append(
                f"accepted: {one.what} ({folded(one.hosts)}): {one.accepted_because}"
            )
    failed, skipped = 0, 0
    for name in sorted({*findings, *reasons, *verdict.passed}):
        case = ElementTree.SubElement(suite, "testcase", classname="audit", name=f"{name}: {checks[name].asks}")
        for one in findings.get(name, ()):
            text = f"{one.path}: {one.what} ({folded(one.hosts)})"
            element = ElementTree.SubElement(case, "failure", type=one.severity, message=printable(text))
            element.text = printable(f"{one.remedy}\n{checks[name].why}")
        if name not in findings and name in reasons:
            ElementTree.SubElement(case, "skipped", message=printable("; ".join(reasons[name])))
        failed, skipped = failed + (name in findings), skipped + (name in reasons and name not in findings)
    if unread:
        case = ElementTree.SubElement(suite, "testcase", classname="audit", name="every host and device could be read")
        ElementTree.SubElement(case, "skipped", message=printable("; ".join(unread)))
        skipped += 1
    for key, count in (("tests", len(suite)), ("failures", failed), ("skipped", skipped), ("errors", 0)):
        suite.set(key, str(count))
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _check(one: Finding | Unseen) -> str:
    return one.check


def _as_sarif(verdict: Verdict, checks: Mapping[str, Check], unread: Sequence[str]) -> str:
    """Return SARIF 2.1.0, whose levels are our severities: a rule for each check, a result for each finding.

    What could not be seen stands among the notifications of the invocation.
    """
    rules = [
        {
            "id": name,
            "shortDescription": {"text": checks[name].asks},
            "fullDescription": {"text": f"{checks[name].why}. Source: {checks[name].source}"},
            "defaultConfiguration": {"level": checks[name].severity},
        }
        for name in sorted({one.check for one in verdict.findings})
    ]
    run = {
        "tool": {"driver": {"name": "fabriscope", "version": __version__, "rules": rules}},
        "results": [_result(one) for one in verdict.findings],
        "invocations": [
            {"executionSuccessful": not unread, "toolExecutionNotifications": _notifications(verdict, unread)}
        ],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _notifications(verdict: Verdict, unread: Sequence[str]) -> list[dict[str, object]]:
    hidden = [f"{one.check} could not be checked on {folded(one.hosts)}: {one.reason}" for one in verdict.unseen]
    return [{"level": "warning", "message": {"text": text}} for text in (*unread, *hidden)]


def _result(one: Finding) -> dict[str, object]:
    evidence = "; ".join(seen.text for seen in one.witnesses)
    result: dict[str, object] = {
        "ruleId": one.check,
        "level": one.severity,
        "message": {"text": f"{one.path}: {one.what}. {evidence}. Remedy: {one.remedy}"},
        "locations": [
            {"logicalLocations": [{"fullyQualifiedName": f"{host}/{one.path}", "kind": "resource"}]}
            for host in one.hosts
        ],
    }
    if one.accepted_because:
        result["suppressions"] = [{"kind": "external", "justification": one.accepted_because}]
    return result
