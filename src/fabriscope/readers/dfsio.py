"""TestDFSIO of Hadoop: the blocks of its results file, or of a console where each line has a logger's prefix.

    ----- TestDFSIO ----- : write
                Date & time: Sat Nov 21 00:39:43 UTC 2026
            Number of files: 2
     Total MBytes processed: 128
          Throughput mb/sec: 39.32
     Average IO rate mb/sec: 39.32
      IO rate std deviation: 0.09
         Test exec time sec: 4.45

Its MB has 2^20 bytes. The throughput is that of a task (bytes over the sum of the tasks' times), not the cluster's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fabriscope.model.errors import ParseError
from fabriscope.model.rounding import exactly, span
from fabriscope.readers._labels import Block, tell_outside
from fabriscope.readers.base import Column, Draft, Reader

_MB = float(1 << 20)
_COLUMNS = (
    Column("Date & time", "date", "date", "", "when the test ended", kind="word"),
    Column("Number of files", "file_count", "files", "", "each read or written by one task", kind="whole"),
    Column("Total MBytes processed", "total_bytes", "bytes", "bytes", "of all files", _MB),
    Column(
        "Throughput mb/sec", "bandwidth_bytes_per_s", "throughput", "bytes_per_s",
        "bytes over the sum of the tasks' times: of a task, not of the cluster", _MB,
    ),
    Column("Total Throughput mb/sec", "total_bandwidth_bytes_per_s", "total", "bytes_per_s", "of all tasks", _MB),
    Column("Average IO rate mb/sec", "bandwidth_bytes_per_s_mean", "mean rate", "bytes_per_s", "over the tasks", _MB),
    Column(
        "IO rate std deviation", "bandwidth_bytes_per_s_deviation", "deviation", "bytes_per_s",
        "the standard deviation of the tasks' rates", _MB,
    ),
    Column("Test exec time sec", "time_s", "time", "s", "of the whole job"),
)  # fmt: skip
_LABELS = {column.head: column for column in _COLUMNS}
_NEEDED = tuple(name for name in _LABELS if name not in ("Date & time", "Total Throughput mb/sec"))
_PREFIX = r"(?:.{0,60}\bTestDFSIO: )?\s*"
_BEGIN = re.compile(_PREFIX + r"-{3,9} TestDFSIO -{3,9} : (\w[\w ]{0,30}?)\s*")
_LABEL = re.compile(_PREFIX + r"([A-Z][\w &/]{3,30}): (\S(?:.*\S)?)\s*")
_TOLERANCE = 0.01


def _fill(draft: Draft) -> None:
    block: Block | None = None
    for line in draft.lines():
        if begin := _BEGIN.fullmatch(line):
            _end(draft, block)
            draft.table(begin[1], _COLUMNS)
            block = Block(_LABELS, draft.line)
        elif (label := _LABEL.fullmatch(line)) and block is None:
            tell_outside(draft, label[1], _LABELS)
        elif label and block is not None:
            block.take(label[1], label[2], draft.line)
            if label[1] == "Test exec time sec":  # stands last
                _end(draft, block)
                block = None
    _end(draft, block)


def _end(draft: Draft, block: Block | None) -> None:
    if block is not None and block.row(draft, _NEEDED, _LABELS.keys() - {"Total Throughput mb/sec"}) is not None:
        _check(block.words)


def _check(words: Mapping[str, str]) -> None:
    """Raise ParseError where tasks that ran in the job's time cannot have that rate, or the mean is below it."""
    files, megabytes, rate, mean, time = (
        span(words[name]) if "." in words[name] else exactly(float(words[name]))
        for name in (
            "Number of files", "Total MBytes processed", "Throughput mb/sec", "Average IO rate mb/sec",
            "Test exec time sec",
        )
    )  # fmt: skip
    if (megabytes / (files * time)).exceeds(rate, _TOLERANCE):
        what = f"{words['Number of files']} tasks of {words['Throughput mb/sec']} mb/sec"
        raise ParseError(f"{what} do not move {words['Total MBytes processed']} MB in {words['Test exec time sec']} s")
    if rate.exceeds(mean, _TOLERANCE):
        what = f"the throughput is {words['Throughput mb/sec']} mb/sec"
        raise ParseError(f"{what}, and the mean of the tasks' rates {words['Average IO rate mb/sec']}")


_SIGNATURE = re.compile(r"-{3,9} TestDFSIO -{3,9} : \w")
READER = Reader("dfsio", "TestDFSIO", _SIGNATURE, _fill, marks=("TestDFSIO",))
