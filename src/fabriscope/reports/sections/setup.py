"""The experimental set-up: fabrics, hosts, MPI libraries, the run."""

from __future__ import annotations

from collections.abc import Iterator

from fabriscope.analysis.results import Results
from fabriscope.model.run_data import RunData
from fabriscope.reports import _facts
from fabriscope.reports._places import place_table
from fabriscope.reports._set_words import set_words
from fabriscope.reports.section import Block, Cell, Column, Folded, Row, Section, Sections, Table

_FABRIC = {
    "name": "fabric", "kind": "kind", "interfaces": "interface", "line_rate": "line rate", "delay": "delay",
    "mtu": "MTU", "buffer": "switch buffer", "coalescing": "interrupt coalescing", "settings": "settings",
}  # fmt: skip
_NUMBERS = ("line_rate", "delay", "mtu", "buffer")


def _build(results: Results) -> list[Section]:
    about = Table([Column("run", "head"), Column("")], _facts.run_table(results))
    blocks: list[Block] = [
        *_fabrics(results.run),
        *_hosts(results.run),
        *_libraries(results.run),
        *_places(results.run),
        about,
    ]
    return [Section("setup", "Experimental set-up", blocks, "Set-up")]


def _fabrics(run: RunData) -> Iterator[Table]:
    rows = [[vars(row)[name] for name in _FABRIC] for row in _facts.fabric_table(run)]
    if rows:
        aligned = {"name": "head", **dict.fromkeys(_NUMBERS, "number")}
        yield Table([Column(title, aligned.get(name, "")) for name, title in _FABRIC.items()], rows)


def _hosts(run: RunData) -> Iterator[Block]:
    """Yield what a paper tells of a host; all other facts are folded away."""
    table = _facts.host_table(run)
    if not table.columns:
        return
    count = len(table.columns)
    rows = {
        is_main: [
            [row.name, *([Cell(row.cells[0], span=count)] if row.same else row.cells)]
            for row in table.rows
            if row.main == is_main
        ]
        for is_main in (True, False)
    }
    columns = [Column(host) for host in table.columns]
    yield Table([Column("host", "head"), *columns], rows[True])
    if rows[False]:
        yield Folded(
            "All other facts of the hosts", [Table([Column("fact", "head"), *columns], rows[False])], is_page_only=True
        )


def _libraries(run: RunData) -> Iterator[Table]:
    stacks = list(run.manifest.mpi.values())
    has_settings = any(stack.knobs for stack in stacks)
    rows: list[Row] = [
        [
            stack.name, stack.version, stack.device or "–", Cell(stack.mpirun, style="code"),
            *([", ".join(set_words(stack.knobs))] * has_settings),
        ]
        for stack in stacks
    ]  # fmt: skip
    if rows:
        heads = [Column("MPI", "head"), Column("version"), Column("built on"), Column("mpirun")]
        yield Table([*heads, *([Column("settings")] * has_settings)], rows)


def _places(run: RunData) -> Iterator[Table]:
    """Yield on which processors ranks ran."""
    rows: list[Row] = [[line.entries, line.bound, line.processors, line.switch or "–"] for line in place_table(run)]
    if rows:
        titles = ("ranks of", "bound by us to", "may run on, rank by rank", "the switch")
        yield Table([Column(title, "head" if not place else "") for place, title in enumerate(titles)], rows)


SECTION = Sections("setup", 102, _build)
