"""nccl-tests and rccl-tests (all_reduce_perf and its like), their table and their report (`-J`).

    #                                                        out-of-place                   in-place
    #       size     count    type  redop  root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
    #        (B) (elements)                         (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
         1048576    262144   float    sum    -1   339.61    3.09    3.09      0   335.85    3.12    3.12      0
    # Out of bounds values : 0 OK
    # Avg bus bandwidth    : 14.9966

A GB has 10^9 bytes. `algbw` is size over time; `busbw` is that times a factor of the collective and of the ranks. Older
builds print the largest error where newer count wrong elements, name fewer columns, and leave words of a row blank: the
numbers are counted from the right.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign, number, shown
from fabriscope.model.rounding import span
from fabriscope.readers import _rows
from fabriscope.readers._json_text import json_report
from fabriscope.readers._nccl_columns import COUNT, HALVES, PLACES, SIZE, TIMES, WORDS
from fabriscope.readers._tables import Rows
from fabriscope.readers.base import Column, Draft, Reader, Value

_HEAD = re.compile(r"#\s+size\s+count\b.*\balgbw\s+busbw\b.*")
_UNITS = re.compile(r"#\s+\(\S+\)\s+\(elements\).*")
_SWAPPED = re.compile(r"#\s+in-place\s+out-of-place")
_UNITS_OF_HALF = (["(us)", "(GB/s)", "(GB/s)"], ["(us)", "(GB/s)", "(GB/s)", "(us)", "(us)", "(us)", "(%)"])
_VERSION = re.compile(r"#\s+[nr]ccl-tests version:? (\S{1,40}).*")
_STARTING = re.compile(r"#\s+Collective test starting: (\S{1,60})\s*")
_COMMAND = re.compile(r"(?:^|[\s/])(\w{1,40}_perf)\s+-")
_SETTINGS = re.compile(r"#\s+nThread (\d{1,9}) n[Gg]pus (\d{1,9}) minBytes \d+ maxBytes \d+ .*")
_STEPS = re.compile(r"\bstep: (\d{1,18})\((factor|bytes)\)")
_SETTING = re.compile(r"(warmup iters|agg iters|iters|validation|graph): (\d{1,18})")
_DEVICE = re.compile(r"#\s+Rank\s+\d+\s.*\bon\s+(\S+)\s+device\s.*")
_WRONG = re.compile(r"#\s+Out of bounds values\s+: (\d{1,18}) (OK|FAILED).*")
_AVERAGE = re.compile(r"#\s+Avg bus bandwidth\s+: (\S+)(?:\s.*)?")
_NCCL_ERROR = re.compile(r".*(?:Test (?:NCCL|CUDA) failure|Test failure|NCCL error|# error:).*", re.IGNORECASE)
_TIME_STAMP = re.compile(r"\s+\d{4}-\d\d-\d\d\s+\d\d:\d\d:\d\d\s*$")
_STEP = 0.005
"""Half of a bandwidth's last digit."""
_TOLERANCE = 0.005
"""Of size over time against the bandwidth beside it: time has as few as three digits."""


@dataclass
class _Test:
    """What stands before a table."""

    name: str = "collective"
    settings: dict[str, int] = field(default_factory=dict)
    rank_count: int = 0
    hosts: set[str] = field(default_factory=set)

    def take(self, text: str) -> bool:
        """Take a line; return whether it tells of the test."""
        if hit := _SETTINGS.fullmatch(text):
            self.settings = dict(zip(("threads", "devices_per_thread"), map(int, hit.groups()[:2]), strict=True))
            self.settings |= {f"{key.replace(' ', '_')}": int(value) for key, value in _SETTING.findall(text)}
            self.rank_count, self.hosts = 0, set()
        elif hit := _DEVICE.fullmatch(text):
            self.rank_count += 1
            self.hosts.add(hit[1])
        elif hit := _STARTING.fullmatch(text) or (None if text.startswith("#") else _COMMAND.search(text)):
            self.name = hit[1]
        else:
            return False
        return True

    def parameters(self) -> dict[str, int]:
        """Return the settings, and how many ranks and hosts there are."""
        counts = {"rank_count": self.rank_count, "host_count": len(self.hosts)} if self.hosts else {}
        return self.settings | counts


@dataclass
class _Sweep:
    """One table that is being read."""

    columns: tuple[Column, ...]
    word_count: int
    line: int
    rows: Rows = field(default_factory=Rows)
    has_gap: bool = False
    """Rows were left out, as in documentation."""
    is_ended: bool = False


def _columns(head: str) -> tuple[tuple[Column, ...], int]:
    """Return the columns of a head line, and how many are words; raises ParseError for one that is not known."""
    names = head.lstrip("#").split()
    columns, halves = [SIZE, COUNT], -1
    for name in (one for one in names[2:] if one != "timestamp"):
        halves += name in TIMES
        known = WORDS if halves < 0 else HALVES[min(halves, 1)]
        if name not in known or known[name] in columns:
            raise ParseError(f"the column {shown(name)} is not known, or stands twice")
        columns.append(known[name])
    return tuple(columns), sum(column.kind == "word" for column in columns)


def _fill(draft: Draft) -> None:
    if draft.text.lstrip()[:1] == "{":
        _report(draft)
        return
    test = _Test()
    sweep: _Sweep | None = None
    for line in draft.lines():
        text = line.strip()
        if hit := _VERSION.fullmatch(text):
            draft.version = hit[1]
        elif test.take(text):
            pass
        elif _HEAD.fullmatch(text):
            _end(draft, sweep)
            columns, word_count = _columns(text)
            sweep = _Sweep(columns, word_count, draft.line)
            draft.table(test.name, columns)
            for key, value in test.parameters().items():
                draft.table_parameter(key, value)
            if draft.version and test.name == _Test.name:
                draft.problem("a table stands under no name of its collective, which this version prints", "cut")
            test = _Test()
        elif _SWAPPED.fullmatch(text):
            raise ParseError("in-place stands before out-of-place, which no version of nccl-tests prints")
        elif sweep is not None and _UNITS.fullmatch(text):
            _check_units([word for word in text.lstrip("#").split() if word[0] == "("])
        elif sweep is not None and _take(draft, sweep, text):
            pass
        elif _NCCL_ERROR.fullmatch(text):
            draft.problem(f"nccl-tests says: {shown(text)}", "said")
    _end(draft, sweep)


def _check_units(units: Sequence[str]) -> None:
    """Raise ParseError for units that are not those that are known."""
    if list(units[:2]) != ["(B)", "(elements)"] or list(units[2:]) not in [half * 2 for half in _UNITS_OF_HALF]:
        raise ParseError(f"the units {shown(' '.join(units))} are not those that are known")


def _take(draft: Draft, sweep: _Sweep, text: str) -> bool:
    """Take a line after a head: a row, or the footer; return whether it is one."""
    words = _TIME_STAMP.sub("", text).split()
    if hit := _WRONG.fullmatch(text):
        if hit[2] != "OK":
            draft.problem(f"nccl-tests says: {hit[1]} values out of bounds", "said")
    elif hit := _AVERAGE.fullmatch(text):
        average = number(hit[1], "Avg bus bandwidth", "")
        draft.table_parameter("average_bus_bandwidth_bytes_per_s", average * 1e9, "bytes_per_s")
        sweep.is_ended = True
        if not sweep.has_gap:
            _check_average(draft, average)
    elif text == "...":
        sweep.has_gap = True
    elif len(words) > 2 and words[0].isdigit() and words[1].isdigit() and not sweep.is_ended:
        _row(draft, sweep, words)
    else:
        return False
    return True


def _row(draft: Draft, sweep: _Sweep, words: Sequence[str]) -> None:
    """Add a row whose numbers are counted from the right."""
    numbers = len(sweep.columns) - 2 - sweep.word_count
    text = " ".join(words)
    if not 2 + numbers <= len(words) <= len(sweep.columns):
        raise ParseError(f"a row has {len(words)} columns, and its table {len(sweep.columns)}: {shown(text)}")
    sweep.rows.take(text, draft.line, f"the row of {words[0]} B")
    stated = [column for column in sweep.columns if column.kind == "word"]
    named = words[2 : len(words) - numbers]
    stated = stated if len(named) == len(stated) else stated[: len(named)]
    columns = (*sweep.columns[:2], *stated, *sweep.columns[len(sweep.columns) - numbers :])
    said = {column.head: word.rstrip("*") for column, word in zip(columns, words, strict=True) if word != "N/A"}
    printed = {column.head: column.printed(said[column.head]) for column in columns if column.head in said}
    _check(said, is_whole=not any("hypercube" in table.name for table in draft.tables[-1:]))
    wrong = sum(float(printed.get(f"{place} #wrong", 0)) for place, _, _ in PLACES)
    if wrong:
        draft.problem(f"{wrong:.0f} elements of {words[0]} B are wrong", "said")
    draft.row(printed)


def _check(said: Mapping[str, str], *, is_whole: bool) -> None:
    """Raise ParseError where size over time is not the bandwidth, or a half of the row has no time."""
    for place, _, _ in PLACES:
        time, rate = said.get(f"{place} time"), said.get(f"{place} algbw")
        if time is None and rate is not None and f"{place} cputime" not in said:
            raise ParseError(f"{said['size']} B have a bandwidth and no time")
        if not is_whole or time is None or rate is None:
            continue
        if not (span(said["size"]) / span(time) / span("1000.0000000")).meets(span(rate), _TOLERANCE):
            raise ParseError(f"{said['size']} B in {time} us are not {rate} GB/s")


def _check_average(draft: Draft, average: float) -> None:
    """Raise ParseError where the mean of all bus bandwidths is not the one that is printed."""
    names = [half["busbw"].name for half in HALVES]
    rates = [float(values[name]) / 1e9 for _, values in draft.tables[-1].rows for name in names if name in values]
    mean = sum(rates) / len(rates) if rates else average
    if abs(mean - average) > _TOLERANCE * average + _STEP:
        raise ParseError(f"the average bus bandwidth is {average:g} GB/s, and that of the rows {mean:g} GB/s")


def _end(draft: Draft, sweep: _Sweep | None) -> None:
    if sweep is not None and not sweep.is_ended:
        draft.problem(f"the table of line {sweep.line} ends without its average", "cut")


def _report(draft: Draft) -> None:
    """Read the report of `-J`."""
    value = json_report(draft, "nccl-tests")
    if value is None:
        return
    report = Foreign(value, "")
    arguments = report.get("args")
    name = arguments.texts()[0].rsplit("/", 1)[-1] if arguments is not None and arguments.sequence() else "collective"
    columns = (
        SIZE,
        COUNT,
        *WORDS.values(),
        *(half[key] for half in HALVES for key in ("time", "cputime", "algbw", "busbw", "#wrong")),
    )
    draft.table(name, columns)
    devices = report.get("devices")
    if devices is not None:
        hosts = {device.at("hostname").text() for device in devices.items()}
        draft.table_parameter("rank_count", len(devices.items()))
        draft.table_parameter("host_count", len(hosts))
    for row in report.at("results").items():
        _report_row(draft, row)
    average = report.get("average_bus_bandwidth", "bandwidth")
    if average is None:
        draft.problem("the report has no average", "cut", 0)
    else:
        draft.table_parameter("average_bus_bandwidth_bytes_per_s", average.number() * 1e9, "bytes_per_s")
    wrong = report.get("out_of_bounds", "count")
    if wrong is not None and wrong.whole():
        draft.problem(f"nccl-tests says: {wrong.whole()} values out of bounds", "said", 0)


def _report_row(draft: Draft, row: Foreign) -> None:
    printed: dict[str, Value] = {"size": row.at("size").whole(), "count": row.at("count").whole()}
    printed |= {name: row.at(name).text().strip() for name in WORDS}
    keys = {"time": "time", "cpu_time": "cputime", "alg_bw": "algbw", "bus_bw": "busbw", "nwrong": "#wrong"}
    for place, _, _ in PLACES:
        for key, head in keys.items():
            number = row.get(place, key)
            if number is not None and number.value != "nan":
                printed[f"{place} {head}"] = number.number(least=0)
        time_us, rate = (float(printed.get(f"{place} {head}", math.nan)) for head in ("time", "algbw"))
        size = float(printed["size"])
        if (
            time_us > 0
            and abs(size / time_us / 1e3 - rate) > _TOLERANCE * rate + 1e-6
            and "hypercube" not in draft.tables[-1].name
        ):
            raise ParseError(f"{size:.0f} B in {time_us} us are not {rate} GB/s")
        if printed.get(f"{place} #wrong"):
            draft.problem(f"{printed[f'{place} #wrong']} elements of {size:.0f} B are wrong", "said", 0)
    draft.row(printed, line=0)


_SIGNATURE = re.compile(
    r'^[^\n#]{0,40}#\s{1,40}size\s{1,40}count\s.{0,80}algbw\s{1,20}busbw|"average_bus_bandwidth"|"alg_bw"', re.MULTILINE
)


def _missing(table: _rows.Rows, text: str) -> Iterator[_rows.Wrong]:
    """Yield where a size stands again, or is more than the step that the settings state beyond the one before."""
    step = _STEPS.search(text)
    amount, is_factor = (int(step[1]), step[2] == "factor") if step else (0, False)
    for (_, before), (line, values) in pairwise(table.rows):
        less, more = (float(one.get(_rows.SIZE, 0)) for one in (before, values))
        if more == less != 0:
            yield line, f"{table.name} of {more:.0f} B stands twice"
        elif amount > 1 and less and more > (less * amount * 1.5 if is_factor else less + amount * 1.5):
            yield line, f"{table.name} has no row between {less:.0f} and {more:.0f} B"


_AMONG = _rows.Among(re.compile(r"\s*#|.*\bNCCL (?:INFO|WARN|VERSION)"), _rows.BEGINS_WITH_NUMBER, _missing)
READER = Reader(
    "nccl",
    "nccl-tests, rccl-tests",
    _SIGNATURE,
    _fill,
    marks=("busbw", "average_bus_bandwidth", "alg_bw"),
    among=_AMONG,
)
