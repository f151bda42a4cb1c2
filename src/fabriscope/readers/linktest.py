"""LinkTest of Jülich: the least, most and mean time over all pairs of processes.

    RESULT: Min Time:                      1.05000000us (  119.05 MB/s) [iter  1 ]
    RESULT: Max Time:                      4.20000000us (   29.76 MB/s) [iter  1 ]
    RESULT: Avg Time:                      2.10000000us (   59.52 MB/s) [iter  1 ]

A time is half of a round trip; a MB has 2^20 bytes, spelt MiB by later versions.
"""

from __future__ import annotations

import re

from fabriscope.model.errors import ParseError
from fabriscope.model.rounding import span
from fabriscope.readers.base import Column, Draft, Reader, Value

_PAIRS = "over all pairs of processes"
_NAMES = {"Min": ("least", "most"), "Max": ("most", "least"), "Avg": ("mean", "mean")}
_ITERATION = Column("iter", "iteration", "iteration", "", "of the whole test", kind="whole")
_TIMES = {
    key: Column(f"{key} Time", f"latency_ns_{name}", f"{name} time", "ns", f"half of a round trip, the {name} {_PAIRS}")
    for key, (name, _) in _NAMES.items()
}
_RATES = {
    key: Column(
        f"{key} rate",
        f"bandwidth_bytes_per_s_{name}",
        f"{name} rate",
        "bytes_per_s",
        f"message size over the {time} time",
    )
    for key, (time, name) in _NAMES.items()
}
_COLUMNS = (_ITERATION, *(column for key in _NAMES for column in (_TIMES[key], _RATES[key])))
_NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_BYTES = {"B": 1.0, "KB": 1024.0, "MB": 1024.0**2, "GB": 1024.0**3, "KiB": 1024.0, "MiB": 1024.0**2, "GiB": 1024.0**3}
_RESULT = re.compile(
    r"\s*RESULT: (Min|Max|Avg)\.? Time:\s+(\S+?)\s*(ns|us|ms|s)\s+"
    r"\(\s*(\S+)\s+([KMG]?i?B)/s\)\s*(?:\[iter\s+(\d+)\s*\])?\s*"
)
_BEGUN = re.compile(r"\s*RESULT: .*")
_TOLERANCE = 0.01


def _fill(draft: Draft) -> None:
    said: dict[str, tuple[str, str, str, str]] = {}
    for line in draft.lines():
        if result := _RESULT.fullmatch(line):
            key, *words, iteration = result.groups()
            if key in said:
                raise ParseError(f"the {key} Time stands twice in one result")
            said[key] = (words[0], words[1], words[2], words[3])
            if len(said) == len(_NAMES):
                _row(draft, said, iteration)
                said = {}
        elif _BEGUN.fullmatch(line) and "Time" in line and "All-to-all" not in line and "(" in line:
            raise ParseError(f"a result is not as those that are known: {line.strip()[:60]!r}")
    if said or not draft.tables:
        draft.problem("the log ends before its results do", "cut")


def _row(draft: Draft, said: dict[str, tuple[str, str, str, str]], iteration: str | None) -> None:
    """Add a row; raises ParseError where times times rates are not one message size, or out of order."""
    if not draft.tables:
        draft.table("pairs", _COLUMNS)
    printed: dict[str, Value] = {} if iteration is None else {"iter": int(iteration)}
    spans, sizes = {}, {}
    for key, (time, unit, rate, rate_unit) in said.items():
        time_ns, rate_bytes = float(_TIMES[key].printed(time)) * _NS[unit], float(_RATES[key].printed(rate))
        spans[key] = span(time) * _NS[unit]
        sizes[key] = spans[key] * span(rate) * _BYTES[rate_unit]
        printed |= {f"{key} Time": time_ns, f"{key} rate": rate_bytes * _BYTES[rate_unit]}
    if spans["Min"].exceeds(spans["Avg"]) or spans["Avg"].exceeds(spans["Max"]):
        raise ParseError(f"the least, mean and most time are {said['Min'][0]}, {said['Avg'][0]}, {said['Max'][0]}")
    for key in ("Max", "Avg"):
        if not sizes["Min"].meets(sizes[key], _TOLERANCE):
            raise ParseError(f"times and rates of Min and {key} are of messages of two sizes")
    draft.row(printed)


_SIGNATURE = re.compile(r"^[^\n]{0,40}RESULT: (?:Min|Max|Avg)\.? Time:|^[^\n]{0,40}Linktest Args\b", re.MULTILINE)
READER = Reader("linktest", "LinkTest", _SIGNATURE, _fill, marks=("RESULT: ", "Linktest Args"))
