"""YCSB: the summary at its end, from histograms, HdrHistogram or raw values, as text or JSON.

    [OVERALL], RunTime(ms), 14735
    [OVERALL], Throughput(ops/sec), 1357.312521208008
    [READ], Operations, 9967
    [READ], AverageLatency(us), 3313.080565867362
    [READ], 99thPercentileLatency(us), 18383
    [READ], Return=OK, 9967

Old versions print percentiles in milliseconds; the unit stands in each label. `CLEANUP`, threads' ends, and
`TOTAL_GC...` are no operations and left out. Rows of buckets are counted: they must come to the operations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number, shown, whole
from fabriscope.model.rounding import span
from fabriscope.readers.base import Column, Draft, Reader, Value

_LINE = re.compile(r"\s*\[([\w%. -]{1,60})\],? (\S[^,]{0,60}), (\S{1,60})\s*")
_PART = re.compile(r"\s*\[[A-Z]")
_WITHOUT_RETURN = re.compile(r"READ-MODIFY-WRITE|Intended-.*")
_JSON = re.compile(
    r'\{\s*"metric"\s*:\s*"([^"]{1,60})",\s*"measurement"\s*:\s*"([^"]{1,60})",\s*"value"\s*:\s*([^}\s,]{1,60})\s*\}'
)
_VERSION = re.compile(r"\s*YCSB Client (\d\S*)\s*")
_OPTION = re.compile(r"-(threads|target) (\d{1,9})\b")
_ASKED = {"threads": "client_threads", "target": "target_rate_per_s"}
_PLAIN = re.compile("READ|UPDATE|INSERT|SCAN|DELETE")
_IN_OTHERS = re.compile(r"VERIFY|Intended-.*")
"""What is measured of operations that are counted as others already."""
_BOTH = "READ-MODIFY-WRITE"
"""Whose READ and UPDATE are counted beside it."""
_NO_OPERATION = re.compile(r"CLEANUP|TOTAL_GC.*|OVERALL|Intended-CLEANUP|TOTAL_.*|\w*GC.*")
_PERCENTILE = re.compile(
    r"(\d{1,3}(?:\.\d{1,6})?)(?:st|nd|rd|th)?PercentileLatency\((us|ms)\)|p(\d{1,3}(?:\.\d{1,6})?)"
)
_BUCKET = re.compile(r">?\d{1,18}")
_UNIT_NS = {"us": 1e3, "ms": 1e6}
_NAME = Column("operation", "operation", "operation", "", "its kind", kind="word")
_OF = "of the latencies of operations"
_FIELDS = {
    "Operations": Column("Operations", "operation_count", "operations", "", "that were made", kind="whole"),
    "AverageLatency(us)": Column("AverageLatency(us)", "latency_ns_mean", "mean", "ns", f"the mean {_OF}", 1e3),
    "LatencyVariance(us)": Column("LatencyVariance(us)", "latency_us2_variance", "variance", "", "in square usec"),
    "MinLatency(us)": Column("MinLatency(us)", "latency_ns_least", "least", "ns", f"the least {_OF}", 1e3),
    "MaxLatency(us)": Column("MaxLatency(us)", "latency_ns_most", "most", "ns", f"the most {_OF}", 1e3),
}  # fmt: skip
_OTHER_NAMES = {
    "Total Operations": "Operations",
    "Average": "AverageLatency(us)",
    "Min": "MinLatency(us)",
    "Max": "MaxLatency(us)",
}
_NEEDED = ("Operations", "AverageLatency(us)", "MinLatency(us)", "MaxLatency(us)")
_RETURNED_OK = {"OK", "0", "BATCHED_OK"}
_COUNT_TOLERANCE = 1e-3
_OK, _NOT_OK = (
    Column("ok", "ok_count", "ok", "", "operations that returned OK or 0", kind="whole"),
    Column("not ok", "not_ok_count", "not ok", "", "operations that returned anything else", kind="whole"),
)


@dataclass
class _Operation:
    """What is said of one kind of operation."""

    line: int
    words: dict[str, str] = field(default_factory=dict)
    percentiles: dict[str, str] = field(default_factory=dict)
    """Label to number."""
    returned: dict[str, int] = field(default_factory=dict)
    buckets: list[str] = field(default_factory=list)

    def take(self, label: str, word: str) -> None:
        """Take a value; raises ParseError for one that stood before, and for a label that is not known."""
        label = _OTHER_NAMES.get(label, label)
        kind = label.partition("=")
        if label in self.words or label in self.percentiles or kind[2] in self.returned:
            raise ParseError(f"{label} stands twice in one result")
        if label in _FIELDS:
            self.words[label] = word
        elif _PERCENTILE.fullmatch(label):
            self.percentiles[label] = word
        elif kind[0] == "Return":
            self.returned[kind[2]] = whole(word, label, "")
        elif _BUCKET.fullmatch(label):
            self.buckets.append(word)
        elif "raw data" not in label:
            raise ParseError(f"what {shown(label)} is, is not known")


def _percentile_column(label: str) -> Column:
    hit = _PERCENTILE.fullmatch(label)
    share = (hit[1] or hit[3]) if hit else ""
    name = share.replace(".", "_")
    return Column(
        label,
        f"latency_ns_p{name}",
        f"{share} %",
        "ns",
        f"the {share}th percentile {_OF}",
        _UNIT_NS[(hit and hit[2]) or "us"],
    )


def _fill(draft: Draft) -> None:
    operations: dict[str, _Operation] = {}
    begun, asked = 0, list[tuple[str, int]]()
    text = draft.text.lstrip()[:1] in "[{" and '"measurement"' in draft.text
    for line in draft.lines():
        if line.startswith("Command line:"):
            asked = [(_ASKED[name], int(word)) for name, word in _OPTION.findall(line)]
        if version := _VERSION.fullmatch(line):
            draft.version = version[1]
            begun = begun or draft.line
        for name, label, word in (
            _JSON.findall(line) if text else [hit.groups() for hit in [_LINE.fullmatch(line)] if hit]
        ):
            if (name, label) == ("OVERALL", "RunTime(ms)"):
                _end(draft, operations)
                operations, begun = {}, 0
                draft.table("operations")
                for parameter, value in asked:
                    draft.table_parameter(parameter, value, "per_s" if parameter.endswith("_per_s") else "")
                asked = []
                draft.table_parameter("time_s", number(word, label, "", least=0) / 1e3, "s")
            elif (name, label) == ("OVERALL", "Throughput(ops/sec)") and draft.tables and not _has_throughput(draft):
                draft.table_parameter("throughput_per_s", number(word, label, "", least=0), "per_s")
            elif (name, label) == ("OVERALL", "Throughput(ops/sec)"):
                draft.problem("the summary has no run time", "cut")
            elif draft.tables and not _NO_OPERATION.fullmatch(name):
                operations.setdefault(name, _Operation(draft.line)).take(label, word)
        if not text and draft.tables and _PART.match(line) and not _LINE.fullmatch(line):
            draft.problem(f"a line of the summary is not whole: {shown(line.strip())}", "cut")
        if "Exception in thread" in line or line.startswith("java.lang."):
            draft.problem(f"YCSB says: {shown(line.strip())}", "said")
    _end(draft, operations)
    if begun:
        draft.problem(f"the run of line {begun} has no result", "cut")


def _has_throughput(draft: Draft) -> bool:
    return any(one.name == "throughput_per_s" for one in draft.tables[-1].parameters)


def _end(draft: Draft, operations: Mapping[str, _Operation]) -> None:
    """Make a row of each kind of operation."""
    if not draft.tables:
        return
    if not _has_throughput(draft):
        draft.problem("the summary has no throughput", "cut", draft.tables[-1].line)
    _check_count(draft, operations)
    _tell_missing(draft, operations)
    columns: dict[str, Column] = {}
    rows = [(one.line, _row(draft, name, one, columns)) for name, one in operations.items()]
    draft.tables[-1].columns = (_NAME, *_FIELDS.values(), *columns.values(), _OK, _NOT_OK)
    for line, printed in rows:
        if printed is not None:
            draft.row(printed, line=line)


def _check_count(draft: Draft, operations: Mapping[str, _Operation]) -> None:
    """Note kinds of operations that are missing: YCSB's throughput is that of all operations in the run time.

    Where some failed its versions count them differently. Raises ParseError where the kinds are far more: buffers of
    HBase that were flushed are UPDATEs too, of which each thread has one.
    """
    counts = {name: whole(one.words.get("Operations", "0"), "Operations", "") for name, one in operations.items()}
    has_all = all("Operations" in one.words for one in operations.values())
    has_failed = any(set(one.returned) - _RETURNED_OK for one in operations.values())
    said = {one.name: float(one.value) for one in draft.tables[-1].parameters}
    if not has_all or has_failed or any(name.endswith("FAILED") for name in counts) or len(said) < 2:
        return
    count = sum(count for name, count in counts.items() if not _IN_OTHERS.fullmatch(name) and name != _BOTH)
    count -= counts.get(_BOTH, 0)
    plain = sum(count for name, count in counts.items() if _PLAIN.fullmatch(name)) - counts.get(_BOTH, 0)
    done, line = said["time_s"] * said["throughput_per_s"], draft.tables[-1].line
    says = f"{said['throughput_per_s']:g} operations/s in {said['time_s']:g} s are {done:.0f}"
    if count < done * (1 - _COUNT_TOLERANCE):
        draft.problem(f"{says}, and the summary has kinds with {count} together: one is missing", "cut", line)
    elif plain > 2 * done + 1:
        raise ParseError(f"{says}, and the summary has kinds with {plain} together")


def _tell_missing(draft: Draft, operations: Mapping[str, _Operation]) -> None:
    """Note kinds of operations that lack percentiles which others have, or have not returned as often as were made."""
    usual = {label: None for one in operations.values() for label in one.percentiles}
    for name, one in operations.items():
        lost = [label for label in usual if label not in one.percentiles]
        if lost and one.words.get("Operations") != "0" and not name.endswith("FAILED"):
            draft.problem(f"{name} has no {lost[0]}, and other operations have", "cut", one.line)
        others = [other for kind, other in operations.items() if not _WITHOUT_RETURN.fullmatch(kind)]
        if not one.returned and one in others and any(other.returned for other in others):
            draft.problem(f"{name} has no Return, and other operations have", "cut", one.line)


def _row(draft: Draft, name: str, one: _Operation, columns: dict[str, Column]) -> dict[str, Value] | None:
    missing = next((label for label in _NEEDED if label not in one.words), None)
    if missing is not None:
        draft.problem(f"{name} has no {missing}", "cut", one.line)
        return None
    draft.line = one.line
    is_none = whole(one.words["Operations"], "Operations", "") == 0  # of nothing the mean is NaN
    mean = one.words["AverageLatency(us)"]
    if is_none and mean.strip().lower() != "nan" and span(mean).most > 0:
        raise ParseError(f"no operation of {name} was made, and their mean latency is {mean} us")
    printed: dict[str, Value] = {"operation": name}
    for label, word in one.words.items():
        if label == "Operations" or not is_none:
            printed[label] = _FIELDS[label].printed(word)
    if not is_none:
        # a percentile in another unit is another column
        new = {label: _percentile_column(label) for label in one.percentiles}
        columns |= {column.name: column for column in new.values() if column.name not in columns}
        for label, word in one.percentiles.items():
            column = columns[new[label].name]
            printed[column.head] = float(new[label].printed(word)) * (new[label].factor / column.factor)
        _check(one, new)
    ok = sum(count for kind, count in one.returned.items() if kind in ("OK", "0"))
    if one.returned:
        if not ok <= int(one.words["Operations"]) <= sum(one.returned.values()):
            count, total = one.words["Operations"], sum(one.returned.values())
            raise ParseError(f"{count} operations of {name} were made, and {ok} returned OK of {total} that returned")
        printed |= {"ok": ok} if ok else {}
        printed |= {"not ok": failed} if (failed := sum(one.returned.values()) - ok) else {}
    if printed.get("not ok"):
        draft.problem(f"{printed['not ok']} operations of {name} did not return OK", "said", one.line)
    return printed


def _check(one: _Operation, columns: Mapping[str, Column]) -> None:
    """Raise ParseError where least, mean, percentiles and most are out of order, or buckets are not all operations."""
    least, mean, most = (span(one.words[label]) for label in ("MinLatency(us)", "AverageLatency(us)", "MaxLatency(us)"))
    if least.exceeds(mean) or mean.exceeds(most):
        said = ", ".join(one.words[label] for label in ("MinLatency(us)", "AverageLatency(us)", "MaxLatency(us)"))
        raise ParseError(f"the least, the mean and the most are {said} us")
    before = 0.0
    for label in sorted(columns, key=lambda label: float(columns[label].title.split()[0])):
        value = span(one.percentiles[label]) * (columns[label].factor / 1e3)
        if before > value.most or value.least > most.most * 1.01:
            raise ParseError(f"{label} is {one.percentiles[label]}, which its neighbours contradict")
        before = value.least
    if one.buckets and all(re.fullmatch(r"\d+(?:\.0)?", word) for word in one.buckets):
        count = sum(int(word.partition(".")[0]) for word in one.buckets)
        if count != int(one.words["Operations"]) and len(one.buckets) > 1:
            raise ParseError(f"the buckets have {count} operations, and {one.words['Operations']} were made")


_SIGNATURE = re.compile(
    r"^[ \t]{0,40}\[OVERALL\], RunTime\(ms\),|^YCSB Client \d|\"metric\"\s?:\s?\"OVERALL\"", re.MULTILINE
)
READER = Reader("ycsb", "YCSB", _SIGNATURE, _fill, marks=("[OVERALL]", "YCSB Client ", "OVERALL"))
