"""HPL (xhpl of Netlib, Intel, NVIDIA), alone or in an output of HPCC: time, rate and residual check of each run.

    WR11C2R4        1000   192     1     2               0.72             9.3151e-01

Time and rate must come to the operations that N needs; so the decimal commas of some locales can be read safely.
"""

import math
import re
from collections.abc import Mapping, Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers.base import Column, Draft, Reader, Value, printed_row

COLUMNS = (
    Column("T/V", "variant", "variant", "", "encoded: mapping, depth, broadcast, factorizations", kind="word"),
    Column("N", "matrix_order", "N", "", "order of the matrix", kind="whole"),
    Column("NB", "block_size", "NB", "", "blocking factor", kind="whole"),
    Column("P", "process_rows", "P", "", "rows of the process grid", kind="whole"),
    Column("Q", "process_columns", "Q", "", "columns of the process grid", kind="whole"),
    Column("Time", "time_s", "time", "s", "until the linear system is solved"),
    Column("Gflops", "rate_flop_per_s", "rate", "flop_per_s", "2/3 N^3 + 3/2 N^2 operations over that time", 1e9),
    Column("residual", "residual", "residual", "", "scaled; the largest where several are checked"),
    Column("check", "check", "check", "", "PASSED if each scaled residual is below its threshold", kind="word"),
)
_VERSION = re.compile(r"(?:HPLinpack|HPL-NVIDIA) (\S+)\s+--")
_SETTING = re.compile(r"(PMAP|PFACT|NBMIN|NDIV|RFACT|BCAST|DEPTH|SWAP|L1|U|EQUIL|ALIGN)\s*:\s*(\S(?:.*\S)?)\s*")
_RESIDUAL = re.compile(r"\|\|Ax-b\|\|_oo[^=]*=\s*(\S+) \.+ (PASSED|FAILED)\s*")
_COMPLAINT = re.compile(r"\s*[1-9]\d* tests skipped .*|HPL ERROR.*|\s*>>> .* <<<.*")
_THRESHOLD = re.compile(r".*pass if scaled residuals are less than\s+(\S+)\s*")
_HPCC_SECTION = re.compile(r"Begin of \w+ section\.")
_FINISHED = re.compile(r"Finished\s+(\d{1,9}) tests with the following results:\s*")
_COUNT = re.compile(r"(\d{1,9}) tests (completed and passed|completed and failed|completed without|skipped)\b.*")
_HEADS = [column.head for column in COLUMNS[:7]]
_BANNER_LINES = 4
"""NVIDIA's banner is followed by that of HPL itself."""
RATE_TOLERANCE = 0.002
"""Of the operations that N needs over the printed time, against the printed rate."""

_Rows = Sequence[tuple[int, Mapping[str, Value]]]


def fill(draft: Draft) -> None:
    """Read the runs of HPL in a log; HPCC's reader does so too."""
    rows = draft.table("HPL", COLUMNS).rows
    threshold, begun, first, finished, counts = math.inf, 0, 0, -1, dict[str, int]()
    checks: dict[int, int] = {}
    """By how many rows stand before."""
    for indented, line in ((one, one.strip()) for one in draft.lines()):
        words = line.replace(",", ".").split()
        _check_heads(words)
        if version := _VERSION.match(indented):
            draft.version = draft.version or version[1]
            if begun and draft.line - begun > _BANNER_LINES:
                draft.problem(f"the run of line {begun} ends before its tests do: another one begins here", "cut")
            begun, first, finished = draft.line, len(rows), -1
        elif "End of Tests." in line or _HPCC_SECTION.match(line):  # HPCC's own banner has the version too
            begun = 0
        elif setting := _SETTING.fullmatch(line):
            draft.parameter(setting[1], setting[2])
        elif stated := _THRESHOLD.fullmatch(line):
            threshold = float(COLUMNS[7].printed(stated[1].replace(",", ".")))
        elif len(words) >= 7 and re.fullmatch(r"W[RC]\d\w*", words[0]):
            draft.row(_run(words))
        elif residual := _RESIDUAL.fullmatch(line):
            if not rows:
                draft.problem("a residual is checked of no run: its row is missing", "cut")
                continue
            checks[len(rows)] = checks.get(len(rows), 0) + 1
            _check(draft, rows[-1][1], residual[1].replace(",", "."), residual[2], threshold)
        elif ended := _FINISHED.fullmatch(line):
            finished, counts = int(ended[1]), {}
        elif finished >= 0 and (count := _COUNT.fullmatch(line)):
            counts[count[2]] = int(count[1])
            if count[2] == "skipped":
                _check_counts(rows[first:], finished, counts)
                first, finished = len(rows), -1
        if _COMPLAINT.fullmatch(line):
            draft.problem(f"HPL says: {shown(line.strip())}", "said")
    _tell_lost(draft, rows, checks)
    if begun or not ("End of Tests." in draft.text or (not rows and _is_passed_by(draft.text))):
        draft.problem("the log ends before the tests do", "cut")


def _is_passed_by(text: str) -> bool:
    """Return whether an HPCC ran other tests alone: some builds choose them."""
    return _OF_HPCC.search(text) is not None and "section." in text and "Begin of HPL section." not in text


def _check_heads(words: Sequence[str]) -> None:
    """Raise ParseError for a head whose columns are not those that are known; what is no head is none of them."""
    if words[:1] == ["T/V"] and words[1:2] != [":"] and words[: len(_HEADS)] != _HEADS:
        raise ParseError(f"the columns {shown(' '.join(words))} are not those that are known")


def _tell_lost(draft: Draft, rows: _Rows, checks: Mapping[int, int]) -> None:
    """Note runs whose residuals are not checked, and residuals of runs whose rows are missing."""
    for line_number in (line_number for line_number, values in rows if "check" not in values):
        draft.problem("no residual of this run is checked", "cut", line_number)
    for at in (at for at, count in checks.items() if count > min(checks.values())):
        draft.problem("more residuals are checked than of other runs: a row is missing", "cut", rows[at - 1][0])


def _run(words: Sequence[str]) -> dict[str, Value]:
    """Return what the line of a run says; raises ParseError unless its time and its rate say the same."""
    if words[7:] and not words[7].startswith("("):  # the rate of each device, which NVIDIA's prints
        raise ParseError(f"the row {' '.join(words)} has {len(words)} words, and its table has 7")
    printed = printed_row(COLUMNS[:7], words[:7])
    n, (time_s, rate) = float(printed["N"]), words[5:7]
    if not (exactly(n * n * (2 / 3 * n + 3 / 2) / 1e9) / span(time_s)).meets(span(rate), RATE_TOLERANCE):
        raise ParseError(f"{words[0]} of N = {n:.0f} in {printed['Time']} s is not {printed['Gflops']} Gflop/s")
    return printed


def _check(draft: Draft, row: dict[str, Value], residual: str, verdict: str, threshold: float) -> None:
    """Take the check of a run; raises ParseError where its verdict is not that of its number."""
    value = float(COLUMNS[7].printed(residual, may_lack=True))
    if (value < threshold) != (verdict == "PASSED") and math.isfinite(threshold):
        raise ParseError(f"a residual of {residual} is said to have {verdict}, and those below {threshold:g} pass")
    row |= {"residual": max(value, float(row.get("residual", 0))), "check": row.get("check", verdict)}
    if verdict == "FAILED":
        row["check"] = "FAILED"
        draft.problem(f"the residual check of N = {row['matrix_order']} failed", "said")


def _check_counts(rows: _Rows, finished: int, counts: Mapping[str, int]) -> None:
    """Raise ParseError where the numbers at the end of the tests are not those of the tests.

    Some logs have a run twice, so there may be more runs than tests.
    """
    skipped, failed = counts["skipped"], counts.get("completed and failed", 0)
    done = sum(counts.values()) - skipped
    if finished not in (done, done + skipped):
        raise ParseError(f"{finished} tests are said to have finished, and {done} to have a result")
    if done > len(rows):
        raise ParseError(f"{done} tests are said to have a result, and {len(rows)} results stand in the log")
    seen = sum(values.get("check") == "FAILED" for _, values in rows)
    if failed > seen or (seen > 0 and failed == 0):
        raise ParseError(f"{failed} tests are said to have failed, and {seen} did")


_SIGNATURE = re.compile(r"^[ \t]{0,99}(?:HPLinpack(?! benchmark input file)|HPL-NVIDIA|HPL ERROR)\b", re.MULTILINE)
_OF_HPCC = re.compile(r"^[ \t]{0,40}(?:Begin of \w{1,40} section\.|This is the DARPA/DOE HPC Challenge)", re.MULTILINE)
"""Whose reader reads its HPL part too."""
READER = Reader("hpl", "xhpl", _SIGNATURE, fill, marks=("HPLinpack", "HPL-NVIDIA", "HPL ERROR"), unless=_OF_HPCC)
