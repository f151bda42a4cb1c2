"""What a paper says, as a run's manifest keeps it: its names replaced by the cases that stand for them here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

Attribute = str | int | float | bool | None
"""A value that a case is selected by."""
Select = Mapping[str, Attribute | tuple[Attribute, ...]]
"""Attribute of cases to the value, or the values, that are meant."""
Ends = tuple[float | None, float | None]
"""Of a range, both inside it; an open end is None."""


@dataclass(frozen=True)
class Part:
    """What one of a curve's names says of its cases."""

    select: Select
    name: str = ""
    """Of a name that has several choices; empty for what holds whichever of them is taken."""


@dataclass(frozen=True)
class Meant:
    """A curve by its name in the paper, and what stands for it here."""

    label: str
    select: Select | None = None
    """By the first choice of each name; None where nothing here stands for it."""
    missing: str | None = None
    """The name that nothing here stands for."""
    parts: tuple[Part, ...] = ()
    """What `select` is made of, what comes later winning; empty where none of its names has several choices."""

    def selected(self, taken: Mapping[str, Select]) -> Select | None:
        """Return what stands for it where other choices than the first were taken, by their names."""
        if self.select is None or not any(part.name in taken for part in self.parts):
            return self.select
        selects = [taken.get(part.name, part.select) for part in self.parts]
        return {key: value for select in selects for key, value in select.items()}


@dataclass(frozen=True)
class Picked:
    """Which numbers of a curve: a metric, along an axis."""

    metric_id: str | None = None
    along: str | None = None
    """Attribute of the cases that is the axis; None: the message size."""
    at: Ends | None = None
    """Part of that axis, where it is not the message size."""
    sizes: Ends | None = None
    take: str | None = None
    """`largest`, `least` or `mean` over the message sizes."""

    @property
    def metric(self) -> str:
        """Return the metric's id; empty where the paper names none."""
        return self.metric_id or ""


@dataclass(frozen=True)
class Expectation:
    """What a claim expects, in stored units; docs/papers.md lists the kinds."""

    kind: str
    sign: int | None = None
    low: float | None = None
    high: float | None = None
    at: float | None = None
    state: str | None = None
    """Of many to one: what the fabric does."""


@dataclass(frozen=True)
class _Said:
    say: str
    of: tuple[Meant, ...]
    expect: Expectation


@dataclass(frozen=True)
class Claim(Picked, _Said):
    """One thing that the paper says."""

    than: tuple[Meant, ...] = ()
    """What the curves are set against."""
    margin: float | None = None
    """How far apart is still equal; None: the usual one."""
    paper: str | None = None
    """The paper's own numbers."""


@dataclass(frozen=True)
class Draw(Picked):
    """What a figure draws."""

    curves: tuple[Meant, ...] = ()


@dataclass(frozen=True)
class FigureFacts:
    """One figure of the paper, and its claims."""

    id: str
    caption: str
    claims: tuple[Claim, ...]
    note: str = ""
    draw: Draw | None = None
    """None where the paper's figure is of no measurement."""


@dataclass(frozen=True)
class _Titled:
    title: str
    unit: str
    show: str
    """`value`, or `size`: the message size where it is taken."""


@dataclass(frozen=True)
class Column(Picked, _Titled):
    """One column of a table: the number of ours that stands beside the paper's."""


@dataclass(frozen=True)
class PaperCell(Meant):
    """One number of a table of the paper."""

    paper: str | int | float | None = None


@dataclass(frozen=True)
class TableRow:
    """One row of a table."""

    names: tuple[str, ...]
    cells: tuple[PaperCell, ...]


@dataclass(frozen=True)
class TableFacts:
    """One table of the paper."""

    id: str
    caption: str
    keys: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    note: str = ""


@dataclass(frozen=True)
class Choice:
    """What may stand for a name."""

    says: str
    """What it is, in words."""
    select: Select


@dataclass(frozen=True)
class Name:
    """One of the paper's names."""

    name: str
    means: str
    """What it is in the paper."""
    here: str
    """What stands for it here, in words."""
    stands: bool
    """Whether something does."""
    choices: tuple[Choice, ...] = ()
    """Where there are several: the first of which something was measured is taken."""


@dataclass(frozen=True)
class PaperFacts:
    """A paper that a plan re-runs."""

    title: str
    figures: tuple[FigureFacts, ...]
    tables: tuple[TableFacts, ...]
    claims: tuple[Claim, ...]
    """What belongs to no figure."""
    citation: str | None = None
    question: str | None = None
    setup: Mapping[str, str] = field(default_factory=dict)
    """What the paper used."""
    here: Mapping[str, object] = field(default_factory=dict)
    """What was used here, as far as the plan says it."""
    names: tuple[Name, ...] = ()
