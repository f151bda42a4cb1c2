"""HPCG: the report of its reference (3.0 as YAML, 3.1 as paths) and the console of NVIDIA's older builds.

    Final Summary::HPCG result is VALID with a GFLOP/s rating of=0.93        3.1
      HPCG result is VALID with a GFLOP/s rating of: 0.93                    3.0, below "Final Summary: "
    final =  202.6 GF (1536.3 GB/s Effective)   25.3 GF_per ( 192.0 GB/s Effective)

The rating includes the overheads of convergence and of optimization. It is printed as valid after a fraction of a
second too: official results need the time that the report states. The "HPCG 2.4 rating" is another figure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number
from fabriscope.readers._labels import Block
from fabriscope.readers.base import Column, Draft, Reader

_VALID = "Final Summary::HPCG result is VALID with a GFLOP/s rating of"
_WITH_OVERHEAD = "GFLOP/s Summary::Total with convergence and optimization phase overhead"
_RAW, _OPERATIONS = "GFLOP/s Summary::Raw Total", "Floating Point Operations Summary::Total"
_TIME = "Benchmark Time Summary::Total"
_CONSOLE, _CONSOLE_RAW, _CONSOLE_TIME = "final", "total", "Total Time"
_RATING = Column(
    "rating", "rating_flop_per_s", "rating", "flop_per_s", "with the overheads of convergence and optimization", 1e9
)
_RAW_RATE = Column(
    "raw", "raw_rate_flop_per_s", "raw rate", "flop_per_s", "operations over the time, without overheads", 1e9
)
_SECONDS = Column("time", "time_s", "time", "s", "of the benchmarking phase")
_PARTS = {
    f"GFLOP/s Summary::Raw {part}": Column(
        part, f"{part.lower()}_rate_flop_per_s", part, "flop_per_s", f"of {part} alone", 1e9
    )
    for part in ("DDOT", "WAXPBY", "SpMV", "MG")
}
_OF_CONSOLE = {
    "SpMV": _PARTS["GFLOP/s Summary::Raw SpMV"],
    "SymGS": Column("SymGS", "symgs_rate_flop_per_s", "SymGS", "flop_per_s", "of the smoother alone", 1e9),
}
_LABELS = {_VALID: _RATING, _RAW: _RAW_RATE, _TIME: _SECONDS, **_PARTS}
_CONSOLE_LABELS = {_CONSOLE: _RATING, _CONSOLE_RAW: _RAW_RATE, _CONSOLE_TIME: _SECONDS, **_OF_CONSOLE}
_COLUMNS = tuple(dict.fromkeys((*_LABELS.values(), *_CONSOLE_LABELS.values())))
_COMPARED = (_VALID, _RAW, _TIME, _OPERATIONS, _WITH_OVERHEAD)
_CHECKED = (_WITH_OVERHEAD, _OPERATIONS, "Final Summary::HPCG result is")
_PARAMETERS = {
    "Machine Summary::Distributed Processes": "process_count",
    "Machine Summary::Threads per processes": "threads_per_process",
    "Global Problem Dimensions::Global nx": "global_nx",
    "Global Problem Dimensions::Global ny": "global_ny",
    "Global Problem Dimensions::Global nz": "global_nz",
    "Local Domain Dimensions::nx": "local_nx",
    "Local Domain Dimensions::ny": "local_ny",
    "Local Domain Dimensions::nz": "local_nz",
}
_OFFICIAL = "Final Summary::Official results execution time (sec) must be at least"
_NAME = re.compile(r"\s*HPCG-Benchmark(?: version: (\S{1,20}))?\s*")
_VERSION = re.compile(r"\s*version=(\S{1,20})\s*")
_PATH = re.compile(r"\s*(?!\s)([\w#/& .()-]{1,60}(?:::[^=:]{1,90}){0,3})=(|.*\S)\s*")
_YAML = re.compile(r"(\s*)(?!\s)([^:=]{1,90}): ?(|.*\S)\s*")
_CONSOLE_RATE = re.compile(r"\s*(SpMV|SymGS|total|final)\s+=\s+(\S+) GF \(.*GB/s.*")
_CONSOLE_SECONDS = re.compile(r"\s*Total Time: (\S+) sec\s*")
_TOLERANCE = 0.001


def _fill(draft: Draft) -> None:
    report, console = None, None
    above: list[tuple[int, str]] = []
    words: dict[str, str] = {}
    for line in draft.lines():
        if name := _NAME.fullmatch(line):
            _end(draft, report, words)
            draft.version = draft.version or name[1]
            report, words, above = _begin(draft, _LABELS), {}, []
        elif hit := _CONSOLE_RATE.fullmatch(line) or _CONSOLE_SECONDS.fullmatch(line):
            label, word = (hit[1], hit[2]) if hit.re is _CONSOLE_RATE else (_CONSOLE_TIME, hit[1])
            if console is None:
                console = _begin(draft, _CONSOLE_LABELS)
            console.take(label, word, draft.line)
            if label == _CONSOLE:
                console.row(draft, (_CONSOLE, _CONSOLE_RAW, _CONSOLE_TIME), _OF_CONSOLE)
                console = None
        elif report is not None and (version := _VERSION.fullmatch(line)):
            draft.version = draft.version or version[1]
        elif report is not None and (hit := _PATH.fullmatch(line) or _YAML.fullmatch(line)):
            path = hit[1] if hit.re is _PATH else _below(above, len(hit[1]), hit[2])
            _take(draft, report, words, path, hit[2] if hit.re is _PATH else hit[3])
    _end(draft, report, words)
    if console is not None:
        console.row(draft, (_CONSOLE, _CONSOLE_RAW, _CONSOLE_TIME))


def _begin(draft: Draft, labels: Mapping[str, Column]) -> Block:
    draft.table("HPCG", _COLUMNS)
    return Block(labels, draft.line)


def _below(above: list[tuple[int, str]], indent: int, name: str) -> str:
    """Return the path of a line of YAML, and take it among those that others stand below."""
    while above and above[-1][0] >= indent:
        above.pop()
    above.append((indent, name))
    return "::".join(part for _, part in above)


def _take(draft: Draft, report: Block, words: dict[str, str], path: str, word: str) -> None:
    """Take a value of a report."""
    if path in _PARAMETERS and word:
        if not any(one.name == _PARAMETERS[path] for one in draft.tables[-1].parameters):
            value = Column(path, "", "", "", "", kind="whole").printed(word)
            draft.table_parameter(_PARAMETERS[path], value)
    elif path == _OFFICIAL:
        draft.table_parameter("least_official_time_s", float(_SECONDS.printed(word)), "s")
    elif path in _CHECKED:
        words[path] = word
    elif word:
        report.take(path, word, draft.line)


def _end(draft: Draft, report: Block | None, words: Mapping[str, str]) -> None:
    """Make a row of a report; raises ParseError where its parts contradict each other."""
    if report is None:
        return
    if words.get("Final Summary::HPCG result is", "").startswith("INVALID"):
        draft.problem("HPCG says that its result is INVALID", "said", report.line)
        return
    if report.row(draft, (_TIME, _RAW, _VALID), _LABELS) is None:
        return
    said = {**report.words, **words}
    values = {path: number(word, path, "", least=0) for path, word in said.items() if path in _COMPARED}
    _check(values, said)


def _check(values: Mapping[str, float], said: Mapping[str, str]) -> None:
    """Raise ParseError where operations over the time, raw rate, overheads and rating contradict each other."""
    raw, rating = values[_RAW], values[_VALID]
    counted = values.get(_OPERATIONS, raw * values[_TIME] * 1e9) / 1e9
    if abs(counted - raw * values[_TIME]) > _TOLERANCE * counted:
        raise ParseError(f"{said[_OPERATIONS]} operations in {said[_TIME]} s are not {said[_RAW]} GFLOP/s")
    if abs(values.get(_WITH_OVERHEAD, rating) - rating) > _TOLERANCE * rating:
        raise ParseError(f"the rating is {said[_VALID]} GFLOP/s, and {said[_WITH_OVERHEAD]} with its overheads")
    if rating > raw * (1 + _TOLERANCE):
        raise ParseError(f"the rating is {said[_VALID]} GFLOP/s, and {said[_RAW]} without overheads")


_SIGNATURE = re.compile(r"^[ \t]{0,40}HPCG-Benchmark\b|^[ \t]{0,40}final\s{1,9}=\s{1,9}\S{1,20} GF \(", re.MULTILINE)
READER = Reader("hpcg", "HPCG of the reference, of NVIDIA", _SIGNATURE, _fill, marks=("HPCG-Benchmark", " GF ("))
