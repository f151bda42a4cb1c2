"""NAS Parallel Benchmarks 2 and 3, serial, OpenMP and MPI: what stands below "Benchmark Completed".

     FT Benchmark Completed.
     Class           =                        S
     Time in seconds =                     0.05
     Total processes =                        2
     Mop/s total     =                  3873.74
     Mop/s/process   =                  1936.87
     Verification    =               SUCCESSFUL

A run whose verification failed prints its rate all the same. What an operation is depends on the benchmark.
fabriscope's own kernels write JSON Lines (docs/npb.md), which become rows of the same table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers import _npb_lines
from fabriscope.readers._labels import Block, tell_outside
from fabriscope.readers._npb_lines import VERIFIED as VERIFIED
from fabriscope.readers.base import Column, Draft, Reader

_EACH = "operations that each process or thread did in a second"
_COLUMNS = (
    Column("Class", "problem_class", "class", "", "of the problem's size", kind="word"),
    Column("Size", "problem_size", "size", "", "of the problem, as the program writes it", kind="word"),
    Column("Iterations", "iteration_count", "iterations", "", "of the solver", kind="whole"),
    Column("Time in seconds", "time_s", "time", "s", "of the timed part"),
    Column("Total processes", "process_count", "processes", "", "that the program ran with", kind="whole"),
    Column("Total threads", "thread_count", "threads", "", "that the program ran with", kind="whole"),
    Column("Active processes", "active_process_count", "active", "", "processes that took part", kind="whole"),
    Column("Avail threads", "available_thread_count", "available", "", "threads that it could have had", kind="whole"),
    Column("Mop/s total", "operation_rate_per_s", "rate", "per_s", "operations over that time", 1e6),
    Column("Mop/s/process", "process_operation_rate_per_s", "rate of each", "per_s", _EACH, 1e6),
    Column("Mop/s/thread", "thread_operation_rate_per_s", "rate of each", "per_s", _EACH, 1e6),
    Column("Operation type", "operation_type", "operations", "", "what is counted", kind="word"),
    Column("Verification", "verification", "verification", "", "whether the result is the known one", kind="word"),
)
_OUR_COLUMNS = (
    *_COLUMNS,
    Column(
        "communication", "communication_percent", "communication", "percent",
        "mean over the ranks of the share of their time that is communication",
    ),
    Column("failed check", "failed_check", "failed check", "", "the first that failed", kind="word"),
)  # fmt: skip
_BY_HEAD = {column.head: column for column in _COLUMNS}
_LABELS = _BY_HEAD | {
    "Active procs": _BY_HEAD["Active processes"],
    "Total procs": _BY_HEAD["Total processes"],
    "Verfication": _BY_HEAD["Verification"],
}
_LINE = '{"type":"'
LONGEST_LINE = 4 << 20
"""Of our own kernels, which tell of each rank."""
_TOLERANCE = 0.001
_NEEDED = ("Time in seconds", "Mop/s total")
_ALWAYS = ("Class", "Size", "Iterations", "Operation type", "Verification")
_TOGETHER = (("Total processes", "Mop/s/process"), ("Total threads", "Avail threads", "Mop/s/thread"))
"""Labels of which a result has all or none."""
_BEGIN = re.compile(
    r"\s*NAS (?:Parallel Benchmarks?|Parallel Multi-Zone Benchmarks)\b.*?- (\w[\w-]*) (?:MZ )?Benchmark\s*"
)
_COMPLETED = re.compile(r"\s*([\w-]{1,20})(?: MPI)? Benchmark Completed\.?\s*")
_LABEL = re.compile(r"\s*(\w[\w/ ]{0,30}?)\s*=\s*(\S(?:.*\S)?)\s*")
_END = re.compile(r"\s*(?:Compile options|Please send).*")
_ONE_LINE = re.compile(r".*\bTime in seconds\s*=.*;.*\bMop/s total\s*=.*")
_NAMED = re.compile(r"(?:^|[\s/])(bt|cg|ep|ft|is|lu|mg|sp|ua|dc|dt)[ .]([SWA-F])\b", re.IGNORECASE)


def _fill(draft: Draft) -> None:
    block: Block | None = None
    begun, lines, usual, cut = 0, dict[str, int](), dict[str, None](), list[tuple[int, str]]()
    repeats = _npb_lines.Repeats()
    for line in draft.lines(LONGEST_LINE):
        if line.startswith(_LINE):
            _tell_twice(draft, line, lines)
            _take_line(draft, line, repeats)
        elif _BEGIN.fullmatch(line):
            _end(draft, block)
            block = None
            if begun:
                draft.problem(f"the run of line {begun} has no result: another one begins here", "cut")
            begun = draft.line
        elif completed := _COMPLETED.fullmatch(line):
            _end(draft, block)
            block, begun = _begin(draft, completed[1].upper()), 0
        elif _ONE_LINE.fullmatch(line):
            _end(draft, block)
            block, begun = None, 0
            _tell_twice(draft, line, lines)
            usual |= _one_line(draft, line, usual)
        elif _NAMED.match(line):
            cut.append((draft.line, line))
        elif block is not None and _END.fullmatch(line):
            _end(draft, block)
            block = None
        elif (label := _LABEL.fullmatch(line)) and block is None:
            tell_outside(draft, label[1], _LABELS)
        elif label and block is not None:
            if label[1] == "Version":
                draft.version = draft.version or label[2]
            block.take(label[1], label[2], draft.line)
    _end(draft, block)
    repeats.end(draft)
    for place, line in cut if usual else ():
        draft.problem(f"a result is not whole: {shown(line.strip())}", "cut", place)
    if begun:
        draft.problem(f"the run of line {begun} has no result", "cut")


def _take_line(draft: Draft, line: str, repeats: _npb_lines.Repeats) -> None:
    """Read a line of our own kernels."""
    result = _npb_lines.take(draft, line, repeats)
    if result is not None:
        kernel, row = result
        draft.table(kernel, _OUR_COLUMNS)
        draft.row(row, derived="communication_percent" if "communication" in row else "")


def _tell_twice(draft: Draft, line: str, lines: dict[str, int]) -> None:
    """Note a result that was printed before, to the last digit."""
    if (first := lines.setdefault(line, draft.line)) != draft.line:
        draft.problem(f"line {first} stands here again", "noted")


def _begin(draft: Draft, name: str) -> Block:
    draft.table(name, _COLUMNS)
    return Block(_LABELS, draft.line)


def _one_line(draft: Draft, line: str, usual: Iterable[str]) -> dict[str, None]:
    """Read a result whose labels somebody has put into one line; return its labels. `usual`: those before."""
    named = _NAMED.search(line)
    block = _begin(draft, named[1].upper() if named else "NPB")
    for part in line.split(";"):
        for name in _LABELS:
            if value := re.search(rf"\b{name}\s*=\s*(\S(?:.*\S)?)\s*$", part):
                block.take(name, value[1], draft.line)
    if named:
        block.take("Class", named[2], draft.line)
    _end(draft, block, usual)
    return dict.fromkeys(block.words)


def _end(draft: Draft, block: Block | None, usual: Iterable[str] = ()) -> None:
    """Make a row of a block; raises ParseError where the rates of all and of each do not agree."""
    if block is None or block.row(draft, _NEEDED, (*usual, *_usual(block, draft.version))) is None:
        return
    _check(block.words)
    if "UNSUCCESSFUL" in block.words.get("Verification", "") or "NOT" in block.words.get("Verification", ""):
        name, verdict = draft.tables[-1].name, block.words["Verification"]
        draft.problem(f"the verification of {name} was {verdict}", "said", block.line)


def _usual(block: Block, version: str | None) -> Iterator[str]:
    """Yield what stands in the block of a result with what stands there."""
    if len(set(block.lines.values())) > 1:  # a line of its own for each
        yield from (name for name in _ALWAYS if name != "Verification" or "Verfication" not in block.words)
        for alike in _TOGETHER:
            if any(label in block.words for label in alike):
                yield from alike
        has_active = any(label in block.words for label in ("Active procs", "Active processes"))
        if "Total processes" in block.words and (version or "").startswith("3.4") and not has_active:
            yield "Active processes"


def _check(words: Mapping[str, str]) -> None:
    """Raise ParseError where the rates of all and of each do not agree; some versions divide by active processes."""
    for each, count in (("Mop/s/process", "Total processes"), ("Mop/s/thread", "Total threads")):
        shares = [exactly(float(words[name])) for name in (count, "Active processes", "Active procs") if name in words]
        if each not in words or not shares:
            continue
        total = span(words["Mop/s total"])
        if not any(
            (span(words[each]) * share.most).meets(total, _TOLERANCE) or (span(words[each]) * share).meets(total)
            for share in shares
        ):
            what = f"{words[each]} Mop/s of each of {words.get(count, '?')}"
            raise ParseError(f"{what} are not {words['Mop/s total']} Mop/s in all")


_SIGNATURE = re.compile(
    r'^\{"type":"(?:start|result|error)",.{0,40}"kernel":"|'
    r"^[ \t]{0,40}NAS Parallel (?:Benchmark|Multi-Zone)|^[ \t]{0,40}\w[\w-]{0,20} Benchmark Completed"
    r"|\bTime in seconds =.{0,300}\bMop/s total =", re.MULTILINE,
)  # fmt: skip
READER = Reader(
    "npb",
    "NAS Parallel Benchmarks",
    _SIGNATURE,
    _fill,
    marks=('"kernel":"', "NAS Parallel", "Benchmark Completed", "Time in seconds ="),
)
