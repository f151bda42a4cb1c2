"""GPCNeT: network_test and network_load_test, in boxes.

    |                            Name |          Min |  ... |          99% |        99.9% |        Units |
    |          RR Two-sided Lat (8 B) |          1.2 |  ... |          2.4 |          3.0 |         usec |

It says MiB and means it. Percentiles are of single iterations, the other columns of means over the iterations of a
measurement: the 99 % may exceed the most. The 99 % of a bandwidth is its low end (99 % of the iterations did better).
Builds without detail print Avg, 99% and Units alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import shown, whole
from fabriscope.model.rounding import span
from fabriscope.readers import _rows
from fabriscope.readers._tables import Rows
from fabriscope.readers.base import Column, Draft, Reader, Value

_OF_MEANS = "over ranks and measurements, each the mean of its iterations"
_MEANS = {
    "Min": ("least_mean", f"the least {_OF_MEANS}"),
    "Max": ("most_mean", f"the most {_OF_MEANS}"),
    "Avg": ("mean", f"the mean {_OF_MEANS}"),
    "Avg(Worst)": ("worst_mean", "the mean over measurements of the worst rank's mean of its iterations"),
}
_OF_ALL = "of all ranks' single iterations"
_LATENCY = _MEANS | {
    "99%": ("p99", f"the 99th percentile {_OF_ALL}"),
    "99.9%": ("p99_9", f"the 99.9th percentile {_OF_ALL}"),
}
_BANDWIDTH = _MEANS | {
    "99%": ("p99", f"what 99 % {_OF_ALL} exceed"),
    "99.9%": ("p99_9", f"what 99.9 % {_OF_ALL} exceed"),
}
_TEST = Column("Name", "test", "test", "", "as the program calls it", kind="word")
_SIZE = Column("size", "message_size_bytes", "size", "bytes", "of a message", kind="whole")
_UNITS = {
    "usec": {
        head: Column(f"{head} usec", f"latency_ns_{name}", f"latency: {name}", "ns", what, 1e3)
        for head, (name, what) in _LATENCY.items()
    },
    "MiB/s/rank": {
        head: Column(f"{head} M", f"bandwidth_bytes_per_s_{name}", f"bandwidth: {name}", "bytes_per_s", what, 2**20)
        for head, (name, what) in _BANDWIDTH.items()
    },
}
_FACTORS = {
    head: Column(f"{head} X", f"congestion_impact_{name}", f"impact: {name}", "", f"how many times worse {what} became")
    for head, name, what in (("Avg", "mean", "the mean"), ("99%", "p99", "the 99th percentile"))
}
_VERSION = re.compile(r"\s*Network(?:Load)? ?Tests v(\S{1,20})\s*")
_RANKS = re.compile(r"\s*Test with (\d{1,9}) MPI ranks \((\d{1,9}) nodes\)\s*")
_NODES = re.compile(r"\s*(\d{1,9}) nodes running (Network|Congestion) Tests.*")
_NAME = re.compile(r"(\S.*?) \(\s*(\d{1,18}) B\)")
_RULER = re.compile(r"\+(?:-+\+){2,99}")
"""Between two rows of a table."""
_ERROR = re.compile(r"\s*ERROR: .*")
_IN_ORDER = {
    "usec": (("Min", "Avg"), ("Avg", "Avg(Worst)"), ("Avg(Worst)", "Max"), ("99%", "99.9%")),
    "MiB/s/rank": (("Min", "Avg(Worst)"), ("Avg(Worst)", "Avg"), ("Avg", "Max"), ("99.9%", "99%")),
}


def _fill(draft: Draft) -> None:
    heads: list[str] = []
    rows = Rows()
    is_done, is_ruler = True, False
    for line in draft.lines():
        text = line.strip()
        if is_ruler and _RULER.fullmatch(text):
            draft.problem("two rulers stand together: the row between them is missing", "cut")
        is_ruler = bool(_RULER.fullmatch(text))
        if version := _VERSION.fullmatch(line):
            draft.version, is_done = version[1], False
        elif ranks := _RANKS.fullmatch(line):
            draft.parameter("rank_count", int(ranks[1]))
            draft.parameter("host_count", int(ranks[2]))
        elif nodes := _NODES.fullmatch(line):
            draft.parameter(f"{nodes[2].lower()}_host_count", int(nodes[1]))
        elif text.startswith("|") and text.endswith("|"):
            cells = [cell.strip() for cell in text.strip("|").split("|")]
            if len(cells) == 1:
                draft.table(" ".join(cells[0].split()).replace("( ", "("))
                heads, rows = [], Rows()
                is_done |= "Key Results" in cells[0] or "Isolated Network Tests" in cells[0]
            elif cells[0] == "Name" and (not draft.tables or draft.tables[-1].rows):
                raise ParseError("the head of a table stands under no title of its own")
            elif cells[0] in ("Name", "") and draft.tables:
                heads = cells if cells[0] == "Name" or len(cells) == len(heads) else ["Name", *cells[1:]]
            elif draft.tables:
                rows.take(cells[0], draft.line, f"the row of {shown(cells[0])}")
                _row(draft, heads, cells)
        elif text.startswith("|"):
            draft.problem(f"a line of a table is not whole: {shown(text)}", "cut")
        elif _ERROR.fullmatch(line):
            draft.problem(f"GPCNeT says: {shown(text)}", "said")
            is_done = True
    if not is_done:
        draft.problem("the log ends before the tests do", "cut")
    for empty in (table for table in draft.tables if not table.rows):
        draft.problem(f"the table {shown(empty.name)} has no row", "cut", empty.line)


def _row(draft: Draft, heads: Sequence[str], cells: Sequence[str]) -> None:
    """Add a row; raises ParseError for another count of cells, a column or a unit that is not known."""
    if len(heads) != len(cells):
        raise ParseError(f"a row has {len(cells)} columns, and its table {len(heads)}: {shown(' '.join(cells))}")
    said = dict(zip(heads[1:], cells[1:], strict=True))
    unit = said.pop("Units", None)
    columns: Mapping[str, Column] | None = _FACTORS if unit is None else _UNITS.get(unit)
    unknown = next((head for head in said if columns is None or head not in columns), None)
    if columns is None or unknown is not None:
        raise ParseError(f"{shown(unit if columns is None else unknown)} is no column or unit that is known")
    if unit is None and not all(word.endswith("X") for word in said.values()):
        raise ParseError(f"a factor of {shown(cells[0])} does not end in X")
    named = _NAME.fullmatch(cells[0])
    printed: dict[str, Value] = {"Name": named[1] if named else cells[0]}
    if named:
        printed["size"] = whole(named[2], "the size", "")
    for head, word in said.items():
        printed[columns[head].head] = columns[head].printed(word.removesuffix("X") if unit is None else word)
    for less, more in _IN_ORDER.get(unit or "", ()):
        if less in said and more in said and span(said[less]).exceeds(span(said[more])):
            raise ParseError(f"{less} is {said[less]} {unit}, and {more} {said[more]}")
    have = draft.tables[-1].columns or (_TEST, _SIZE)
    draft.tables[-1].columns = (*have, *(columns[head] for head in said if columns[head] not in have))
    draft.row(printed)


_SIGNATURE = re.compile(
    r"^[ \t]{0,40}Network(?:Load)? ?Tests v\d"
    r"|^[ \t]{0,40}\|\s{1,99}(?:Isolated (?:Network|Congestion) Tests|Network Tests running)"
    r"|^ERROR: this application must be run on at least \d{1,9} nodes",
    re.MULTILINE,
)  # fmt: skip
_AMONG = _rows.Among(re.compile(r"\s*\|.*\|\s*$"), re.compile(r"\s*\||.*\|\s*$"))
READER = Reader("gpcnet", "GPCNeT", _SIGNATURE, _fill, marks=("Tests", "ERROR: this application must"), among=_AMONG)
