"""Every host against every other: quantiles over pairs, the slowest, a picture."""

from __future__ import annotations

from fabriscope.analysis.results import Results
from fabriscope.analysis.values.pairs import PairMatrix
from fabriscope.analysis.words import UNKNOWN, size_text, time_text
from fabriscope.model.counting import counted
from fabriscope.reports._pairs import picture
from fabriscope.reports.section import Block, Cell, Column, Grid, Picture, Row, Section, Sections, Table

_MOST_NAMED = 3


def _build(results: Results) -> list[Section]:
    matrices = results.pairs
    if not matrices:
        return []
    numbers = ("size", "pairs", "least", "1 %", "median", "99 %", "most", "between launches")
    columns = [Column("what"), *(Column(name, "number") for name in numbers)]
    columns += [Column("slowest pairs"), Column("slowest hosts, times the median")]
    ends = [matrices[0], matrices[-1]] if len(matrices) > 1 else matrices
    blocks: list[Block] = [Table(columns, [_row(matrix) for matrix in matrices])]
    blocks.append(Grid([[_picture(matrix)] for matrix in ends]))
    return [Section("pairs", "Every host against every other", blocks, "Every pair")]


def _row(matrix: PairMatrix) -> Row:
    least, p1, _, p50, _, p99, most = (time_text(value) for value in matrix.quantiles_ns)  # at QUANTILES
    impossible = f", {matrix.impossible_count} impossible pairs left out" if matrix.impossible_count else ""
    return [
        Cell(matrix.case.label(ranks=False), f"{counted(matrix.launch_count, 'launch')}{impossible}"),
        size_text(matrix.case.message_size_bytes),
        f"{matrix.pair_count:,}".replace(",", "\N{THIN SPACE}"),
        *(least, p1, p50, p99, most),
        UNKNOWN if matrix.noise is None else f"{matrix.noise:.1%}",
        ", ".join(f"{left} - {right} {time_text(value)}" for left, right, value, _ in matrix.worst[:_MOST_NAMED]),
        ", ".join(f"{host} {ratio:.2f}" for host, ratio in matrix.worst_hosts[:_MOST_NAMED]),
    ]


def _picture(matrix: PairMatrix) -> Picture:
    what = f"Half a round trip at {size_text(matrix.case.message_size_bytes)}, {matrix.case.label(ranks=False)}"
    legend = "the slowest pair of each cell, against the median of all (up to 1.05, 1.25, 1.5, 2 times, more)"
    return Picture(f"{what}: {legend}", picture(matrix))


SECTION = Sections("pairs", 80, _build)
