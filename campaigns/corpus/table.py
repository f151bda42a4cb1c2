"""What came of the transport corpus, as tables for docs/transport-corpus.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fabriscope.model.counters import PROVED, REFUTED, UNDECIDED

DOCUMENT = Path(__file__).parents[2] / "docs" / "transport-corpus.md"
BEGIN, END = "<!-- corpus: begin -->", "<!-- corpus: end -->"
GUESTS_MARKS = ("<!-- guests: begin -->", "<!-- guests: end -->")
CLOSURE_LIMIT = 0.02
LOG_WORDS = ("right", "in part", "silent", "wrong")

Record = Mapping[str, Any]


def totals(cases: Sequence[Record]) -> dict[str, Any]:
    """Return the counts that the promise is about; cases that did not run are told apart."""
    ran = [case for case in cases if not case.get("error")]
    open_ones = [case for case in ran if case["expected"] != UNDECIDED]
    decided = [case for case in open_ones if case["verdict"] != UNDECIDED]
    errors = [case["closure_error"] for case in decided if case["closure_error"] is not None]
    return {
        "cases": len(ran),
        "not_run": len(cases) - len(ran),
        "false_proved": [one["name"] for one in ran if one["verdict"] == PROVED != one["expected"]],
        "false_refuted": [one["name"] for one in ran if one["verdict"] == REFUTED != one["expected"]],
        "undecided_by_design": len(ran) - len(open_ones),
        "decided_share": len(decided) / len(open_ones) if open_ones else None,
        "undecided": [one["name"] for one in open_ones if one["verdict"] == UNDECIDED],
        "largest_closure_error": max(errors, default=None),
        "closure_too_large": [
            one["name"] for one in decided if (one["closure_error"] or 0) > CLOSURE_LIMIT
        ],
        "log_alone": {word: sum(one["log"] == word for one in ran) for word in LOG_WORDS},
        "contradictions": sum(bool(one["contradiction"]) for one in ran),
    }  # fmt: skip


def is_kept(cases: Sequence[Record]) -> bool:
    """Return whether the promise holds: no false verdict, 95 % decided, the books closed within 2 %."""
    found = totals(cases)
    share = found["decided_share"]
    wrong = found["false_proved"] or found["false_refuted"] or found["closure_too_large"] or found["not_run"]
    return not wrong and share is not None and share >= 0.95


def summary(cases: Sequence[Record]) -> Iterator[str]:
    """Yield the sums as lines of Markdown."""
    found = totals(cases)
    share, error = found["decided_share"], found["largest_closure_error"]
    yield "| | |"
    yield "|---|---|"
    yield f"| cases | {found['cases']} |"
    yield f"| false `proved` | {_listed(found['false_proved'])} |"
    yield f"| false `refuted` | {_listed(found['false_refuted'])} |"
    yield f"| decided, of those that can be | {_percent(share)} (by design undecided: {found['undecided_by_design']}) |"
    yield f"| left undecided | {_listed(found['undecided'])} |"
    yield f"| largest closure error of the decided | {_percent(error, 2)} |"
    yield f"| closure error above 2 % | {_listed(found['closure_too_large'])} |"
    said = ", ".join(f"{word} {count}" for word, count in found["log_alone"].items())
    yield f"| the library's log alone | {said} |"
    yield f"| contradictions found between log and books | {found['contradictions']} |"
    if found["not_run"]:
        yield f"| did not run | {found['not_run']} |"


def rows(cases: Sequence[Record]) -> Iterator[str]:
    """Yield a table of the cases for each family."""
    for family in dict.fromkeys(case["family"] for case in cases):
        own = [case for case in cases if case["family"] == family]
        counts = Counter(case.get("verdict") or "did not run" for case in own)
        yield ""
        yield f"### {family[0].upper()}{family[1:]} ({', '.join(f'{count} {word}' for word, count in counts.items())})"
        yield ""
        yield "| case | asked | in truth | verdict | carried by | closure error | log alone |"
        yield "|---|---|---|---|---|---|---|"
        for case in own:
            yield _row(case)


def _row(case: Record) -> str:
    truth = ", ".join(case["truth"]) or "nothing"
    if case.get("error"):
        return f"| {case['name']} | {case['asked']} | {truth} | did not run: {_cell(case['error'])} | | | |"
    mark = "" if case["verdict"] == case["expected"] else f" (**{case['expected']} is right**)"
    cells = [case["name"], case["asked"], truth, f"{case['verdict']}{mark}", _cell(case["carried_by"])]
    return f"| {' | '.join([*cells, _percent(case['closure_error'], 2), case['log']])} |"


def _cell(text: str) -> str:
    return text.replace("|", "/").replace("\n", " ")[:160]


def _listed(names: Sequence[str]) -> str:
    return f"{len(names)}: {'; '.join(names)}" if names else "0"


def _percent(share: float | None, digits: int = 1) -> str:
    return "–" if share is None else f"{100 * share:.{digits}f} %"


def write(results: Mapping[str, Any], document: Path = DOCUMENT, marks: tuple[str, str] = (BEGIN, END)) -> None:
    """Put the tables between two marks of the document."""
    text = document.read_text()
    head, found, rest = text.partition(marks[0])
    _, ended, tail = rest.partition(marks[1])
    if not found or not ended:
        raise SystemExit(f"{document} has no place for the table: the lines {' and '.join(marks)}")
    body = "\n".join([f"{results['made']}.", "", *summary(results["cases"]), *rows(results["cases"])])
    document.write_text(f"{head}{marks[0]}\n{body}\n{marks[1]}{tail}")
