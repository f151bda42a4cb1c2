"""fabtests: fi_pingpong and the benchmarks (fi_rdm_tagged_bw, fi_msg_pingpong and their like).

    bytes   #sent   #ack     total       time     MB/sec    usec/xfer   Mxfers/sec
    64      10      =10      1.2k        0.00s      1.77      36.25       0.03
    1k      10      =10      20k         0.00s     57.21      17.90       0.06

Sizes and totals are in powers of 1024, counts in powers of 1000; a MB has 10^6 bytes. A transfer of a ping-pong is half
of a round trip. Server and client print the same run: two tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number, shown
from fabriscope.model.rounding import exactly, span
from fabriscope.readers import _rows
from fabriscope.readers._tables import Rows
from fabriscope.readers.base import Column, Draft, Reader, Value
from fabriscope.readers.terms import TWO_BUFFERS, Terms

_BINARY = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_DECIMAL = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
_SIZE = Column("bytes", "message_size_bytes", "size", "bytes", "of a message")
_COLUMNS = {
    column.head: column
    for column in (
        Column("name", "test", "test", "", "as the program calls it", kind="word"),
        _SIZE,
        Column("#sent", "sent_message_count", "sent", "", "messages, to the digits that are printed"),
        Column("#ack", "received_message_count", "received", "", "messages that were answered"),
        Column("iters", "iteration_count", "iterations", "", "of the test, to the digits that are printed"),
        Column("total", "total_bytes", "bytes", "bytes", "that were moved, to the digits that are printed"),
        Column("time", "time_s", "time", "s", "of the whole test"),
        Column("MB/sec", "bandwidth_bytes_per_s", "bandwidth", "bytes_per_s", "bytes over the time", 1e6),
        Column("usec/xfer", "latency_ns", "latency", "ns", "the time over the transfers, hence a mean", 1e3),
        Column("Mxfers/sec", "message_rate_per_s", "message rate", "per_s", "transfers over the time", 1e6),
    )
}
_HEAD = re.compile(r"\s*(?:name\s+)?bytes\s+(?:#sent\s+#a|iters\s+t).*")
_ROW = re.compile(r"\s*(?:[a-z]\w{0,40}\s+)?\d+[kmgt]?\s+=?\d.*")
_AMOUNT = re.compile(r"(\d+(?:\.\d+)?)([kmgtb]?)")
_ERROR = re.compile(r"\s*(?:fi_\w{1,40}\(\): |\[error\]).*|.*: ret=-\d+ .*")
_TOLERANCE = 0.01
_DEFAULT_SIZES = (64, 256, 1 << 10, 4 << 10, 64 << 10, 1 << 20)


def _fill(draft: Draft) -> None:
    heads: list[str] = []
    rows = Rows()
    for line in draft.lines():
        words = line.split()
        if _HEAD.fullmatch(line):
            unknown = next((word for word in words if word not in _COLUMNS), None)
            if unknown is not None:
                raise ParseError(f"the column {shown(unknown)} is not known")
            if "MB/sec" not in words:
                raise ParseError(f"the head of a table ends before its rate: {shown(' '.join(words))}")
            _end(draft)
            heads, rows = words, Rows()
            draft.table("fabtests", [_COLUMNS[head] for head in heads])
        elif heads and _ROW.fullmatch(line):
            if len(words) != len(heads):
                raise ParseError(f"a row has {len(words)} columns, and its table {len(heads)}: {shown(line.strip())}")
            rows.take(words[: heads.index("bytes") + 1][-1], draft.line, f"the row of {words[heads.index('bytes')]} B")
            draft.row(_printed(heads, words))
        elif _ERROR.fullmatch(line):
            draft.problem(f"fabtests say: {shown(line.strip())}", "said")
    _end(draft)


def _end(draft: Draft) -> None:
    if draft.tables and not draft.tables[-1].rows:
        draft.problem("the table has no row", "cut", draft.tables[-1].line)


def _amount(word: str, head: str, units: Mapping[str, int]) -> Value:
    """Return a number with its suffix; raises ParseError."""
    hit = _AMOUNT.fullmatch(word)
    if hit is None or hit[2] not in units:
        raise ParseError(f"{head} should be a number and is {shown(word)}")
    value = number(hit[1], head, "", least=0) * units[hit[2]]
    return int(value) if value.is_integer() else value


def _printed(heads: Sequence[str], words: Sequence[str]) -> dict[str, Value]:
    """Return a row; raises ParseError where size, time and rate of a transfer do not agree."""
    said = dict(zip(heads, words, strict=True))
    printed: dict[str, Value] = {}
    for head, word in said.items():
        if head in ("bytes", "total"):
            printed[head] = _amount(word, head, _BINARY)
        elif head in ("#sent", "#ack", "iters"):
            printed[head] = _amount(word.removeprefix("="), head, _DECIMAL)
        elif head == "time" and not word.endswith("s"):
            raise ParseError(f"the time is {shown(word)}, which has no unit that is known")
        else:
            printed[head] = _COLUMNS[head].printed(word.removesuffix("s") if head == "time" else word)
    if "MB/sec" in said and "usec/xfer" in said:
        size = exactly(float(printed["bytes"]))
        if not (size / span(said["usec/xfer"])).meets(span(said["MB/sec"]), _TOLERANCE):
            raise ParseError(f"{said['bytes']} B in {said['usec/xfer']} usec are not {said['MB/sec']} MB/sec")
        if "Mxfers/sec" in said and not (exactly(1.0) / span(said["usec/xfer"])).meets(
            span(said["Mxfers/sec"]), _TOLERANCE
        ):
            raise ParseError(f"transfers of {said['usec/xfer']} usec are not {said['Mxfers/sec']} million a second")
    return printed


def _terms(_table: str) -> Terms:
    return Terms(
        "all transfers together, by each end's own clock",
        TWO_BUFFERS,
        "all that are moved, of a ping-pong there and back",
    )


_SIGNATURE = re.compile(r"^[^\n]{0,40}bytes\s{1,20}(?:#sent\s{1,20}#a|iters\s{1,20}t)", re.MULTILINE)


def _missing(table: _rows.Rows, _text: str) -> Iterator[_rows.Wrong]:
    """Yield where one of the sizes is missing that are run when none is asked for."""
    sizes = [float(values.get(_rows.SIZE, 0)) for _, values in table.rows]
    for (line, _), less, more in zip(table.rows[1:], sizes, sizes[1:], strict=False):
        between = [size for size in _DEFAULT_SIZES if less < size < more]
        if between and set(sizes) <= set(_DEFAULT_SIZES):
            yield line, f"the table has no row of {between[0]} B between {less:.0f} and {more:.0f} B"


_PART = re.compile(r"\s*(?:[a-z]\w{0,40}\s+)?\d+[kmgt]?\s+=?\d|\s*\d")
_AMONG = _rows.Among(re.compile(r"\s*bytes "), _PART, _missing)
READER = Reader(
    "fabtests", "fi_pingpong, fabtests' benchmarks", _SIGNATURE, _fill, _terms, ("#sent", "iters"), among=_AMONG
)
