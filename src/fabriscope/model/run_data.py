"""A run as it was read back: what analysis and reports work on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar, cast

from fabriscope.model.manifest import Manifest
from fabriscope.model.record import LaunchRecord, Line
from fabriscope.model.switch_series import Counted, SwitchSeries

if TYPE_CHECKING:
    import polars as pl

    from fabriscope.model.counters import Watch

T = TypeVar("T")

IDLE_COUNTERS = "counters/idle.json.gz"
"""What the hosts' counters said before the first launch; a launch's own file is named in its record."""

SAMPLE_COLUMNS = (
    "launch_id",  # Int32, counts from 1 in the order of execution
    "block",  # Int32, every block launches every entry once
    "case_id",  # String
    "rank",  # Int32, null for what is true of all ranks together
    "peer",  # Int32, the other rank of pair_operation_ns, else null
    "quantity",  # String, operation_ns, a share of one rank (model.measurement), or a metric id
    "phase",  # String, warmup or measure
    "round",  # Int32
    "burst",  # Int32
    "start_ns",  # Int64, of the burst, on the launch's clock
    "operations_per_sample",  # Int32
    "value",  # Float64, in the unit that the quantity's name ends in
)


@dataclass(frozen=True)
class RunData:
    """One run folder: the manifest, the journal's records that count, in order, and their samples (SAMPLE_COLUMNS)."""

    path: str
    manifest: Manifest
    """With what the journal added to it, as if it had been planned."""
    journal: tuple[LaunchRecord, ...]
    samples: pl.LazyFrame
    lines: tuple[Line, ...] = ()
    """Every line of the journal in order, those too whose place another attempt took, and those that add launches; if
    not given, `journal`."""
    counters: Callable[[str], Counted] | None = field(default=None, compare=False)
    """Reads one of the run's files of counters, nothing where it is missing; None where nobody watched."""

    notes: tuple[str, ...] = ()
    """What was left out since it is not as it was written, and why: a sentence each."""

    _computed: dict[object, object] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Take the records that count for all there are, where nothing else is said."""
        if not self.lines:
            object.__setattr__(self, "lines", self.journal)

    def once(self, compute: Callable[[RunData], T]) -> T:
        """Return what a function makes of this run; it is kept with the run, and computed the first time alone."""
        if compute not in self._computed:
            self._computed[compute] = compute(self)
        return cast(T, self._computed[compute])

    def watches(self, record: LaunchRecord) -> Mapping[str, Watch]:
        """Return host to what its counters said during the launch of a record; empty where nobody watched."""
        return self._counted(record.counters).watches

    def switch_series(self, record: LaunchRecord) -> SwitchSeries | None:
        """Return what the lab's switch counted over time; None where no launch of streams went over one."""
        return self._counted(record.counters).switch

    def idle_watches(self) -> Mapping[str, Watch]:
        """Return host to what its counters said before the first launch; empty where nobody watched."""
        return self._counted(IDLE_COUNTERS).watches

    def _counted(self, name: str | None) -> Counted:
        return self.counters(name) if name and self.counters is not None else Counted({})

    @property
    def superseded(self) -> list[LaunchRecord]:
        """Return the records that do not count; their samples are not among `samples`."""
        counting = {id(record) for record in self.journal}
        return [line for line in self.lines if isinstance(line, LaunchRecord) and id(line) not in counting]
