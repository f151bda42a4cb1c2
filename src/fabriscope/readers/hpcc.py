"""HPC Challenge: the summary of each run in `hpccoutf.txt`, which is appended to, and its HPL part as a table.

    Begin of Summary section.
    HPL_Tflops=0.00294074
    MPIRandomAccess_GUPs=0.000763011
    MinPingPongLatency_usec=0.446875
    MaxPingPongBandwidth_GBytes=9.89063
    End of Summary section.

Its GB has 10^9 bytes; -1 means that nothing was measured, as on one process.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import number
from fabriscope.model.rounding import exactly, span
from fabriscope.readers import hpl
from fabriscope.readers._labels import Block, tell_outside
from fabriscope.readers.base import Column, Draft, Reader, Unit

_ALONE, _ALL, _TOGETHER = "on one process alone", "on all at once, the mean", "by all together"
_HOW = {"Single": _ALONE, "Star": _ALL, "MPI": _TOGETHER}


def _of_kinds(test: str, title: str, kinds: Sequence[str], unit: Unit, name: str, factor: float) -> list[Column]:
    return [
        Column(f"{kind}{test}", f"{kind.lower()}_{name}", f"{kind} {title}", unit, f"{title} {_HOW[kind]}", factor)
        for kind in kinds
    ]


def _of_messages() -> list[Column]:
    """Return the columns of the ping-pong between pairs, and of the rings of all processes."""
    columns = []
    for what in ("MinPingPong", "AvgPingPong", "MaxPingPong", "NaturallyOrderedRing", "RandomlyOrderedRing"):
        least, test = {"Min": ("least", "ping-pong"), "Avg": ("mean", "ping-pong"), "Max": ("most", "ping-pong")}.get(
            what[:3], (what.partition("Ordered")[0].lower(), "ring")
        )
        name, of = f"{test.replace('-', '_')}", f"{least} {test}"
        how = f"of 8 B: {of}" if test == "ring" else f"of 8 B: the {least} over pairs of processes, one pair at a time"
        rate = how.replace("8 B", "2,000,000 B")
        columns.append(Column(f"{what}Latency_usec", f"{name}_latency_ns_{least}", f"{of} latency", "ns", how, 1e3))
        columns.append(
            Column(
                f"{what}Bandwidth_GBytes",
                f"{name}_bandwidth_bytes_per_s_{least}",
                f"{of} bandwidth",
                "bytes_per_s",
                rate,
                1e9,
            )
        )
    return columns


_COLUMNS = (
    Column("CommWorldProcs", "process_count", "processes", "", "of the run", kind="whole"),
    Column("HPL_N", "hpl_matrix_order", "HPL N", "", "order of HPL's matrix", kind="whole"),
    Column("HPL_time", "hpl_time_s", "HPL time", "s", "of the best HPL run"),
    Column("HPL_Tflops", "hpl_rate_flop_per_s", "HPL", "flop_per_s", "of the best HPL run", 1e12),
    Column("PTRANS_GBs", "ptrans_bandwidth_bytes_per_s", "PTRANS", "bytes_per_s", "transposing a matrix", 1e9),
    *_of_kinds("DGEMM_Gflops", "DGEMM", ("Single", "Star"), "flop_per_s", "dgemm_rate_flop_per_s", 1e9),
    *_of_kinds("RandomAccess_GUPs", "updates", ("Single", "Star", "MPI"), "per_s", "random_access_rate_per_s", 1e9),
    *_of_kinds("RandomAccess_LCG_GUPs", "LCG updates", ("Single", "Star", "MPI"), "per_s", "lcg_rate_per_s", 1e9),
    *(
        column
        for part in ("Copy", "Scale", "Add", "Triad")
        for column in _of_kinds(
            f"STREAM_{part}", f"STREAM {part}", ("Single", "Star"), "bytes_per_s",
            f"stream_{part.lower()}_bandwidth_bytes_per_s", 1e9,
        )
    ),
    *_of_kinds("FFT_Gflops", "FFT", ("Single", "Star", "MPI"), "flop_per_s", "fft_rate_flop_per_s", 1e9),
    *_of_messages(),
)  # fmt: skip
_LABELS = {column.head: column for column in _COLUMNS}
_USUAL = tuple(label for label in _LABELS if "_LCG_" not in label)
"""Which versions before 1.4 do not print."""
_NEEDED = ("CommWorldProcs", "HPL_Tflops", "MinPingPongLatency_usec")
_BEGIN, _END = re.compile(r"\s*Begin of Summary section\.\s*"), re.compile(r"\s*End of Summary section\.\s*")
_LABEL = re.compile(r"\s*([A-Za-z_]\w{0,60})=(\S*)\s*")
_TOLERANCE = 0.005


def _fill(draft: Draft) -> None:
    hpl.fill(draft)
    draft.version = None  # that was HPL's
    block: Block | None = None
    others: dict[str, str] = {}
    for line in draft.lines():
        if _BEGIN.fullmatch(line):
            _cut(draft, block)
            draft.table("summary", _COLUMNS)
            block, others = Block(_LABELS, draft.line), {}
        elif block is not None and _END.fullmatch(line):
            _end(draft, block, others)
            block = None
        elif (label := _LABEL.fullmatch(line)) and block is None:
            tell_outside(draft, label[1], _LABELS)
        elif label and block is not None:
            if label[1] in _LABELS and number(label[2], label[1], "") == -1:
                block.without_number.add(label[1])
                continue
            if not block.take(label[1], label[2], draft.line):
                others.setdefault(label[1], label[2])
    _cut(draft, block)
    if not any(table.name == "summary" for table in draft.tables):
        draft.problem("there is no summary: the run ended before", "cut")


def _cut(draft: Draft, block: Block | None) -> None:
    if block is not None:
        draft.problem(f"the summary of line {block.line} has no end", "cut")


def _end(draft: Draft, block: Block, others: Mapping[str, str]) -> None:
    if block.row(draft, _NEEDED[:1], _USUAL) is None:
        return
    version = [others.get(f"Version{part}") for part in ("Major", "Minor", "Micro")]
    if None not in version:
        draft.version = ".".join(str(part) for part in version)
    if others.get("Success") == "0":
        draft.problem("HPCC says that a test has failed (Success=0)", "said", block.line)
    said = block.words
    if {"HPL_N", "HPL_time", "HPL_Tflops"} <= set(said):
        n = float(_LABELS["HPL_N"].printed(said["HPL_N"]))
        flops = exactly((2 / 3 * n**3 + 3 / 2 * n**2) / 1e12)
        if not (flops / span(said["HPL_time"])).meets(span(said["HPL_Tflops"]), _TOLERANCE):
            raise ParseError(f"N = {said['HPL_N']} in {said['HPL_time']} s are not {said['HPL_Tflops']} Tflop/s")
    for what in ("Latency_usec", "Bandwidth_GBytes"):
        names = [f"{which}PingPong{what}" for which in ("Min", "Avg", "Max")]
        values = [span(said[name]) for name in names if name in said]
        if len(values) == len(names) and (values[0].exceeds(values[1]) or values[1].exceeds(values[2])):
            shown = ", ".join(said[name] for name in names)
            raise ParseError(f"the least, the mean and the most of PingPong{what} are {shown}")


_SIGNATURE = re.compile(
    r"^[ \t]{0,40}(?:Begin of \w{1,40} section\.|This is the DARPA/DOE HPC Challenge)", re.MULTILINE
)
READER = Reader("hpcc", "HPC Challenge", _SIGNATURE, _fill, marks=("Begin of ", "HPC Challenge"))
