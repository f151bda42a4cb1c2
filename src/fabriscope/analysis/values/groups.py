"""The table of collectives and pairs: times at the ends of the sizes, slowest rank, late rounds, clock error."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import polars as pl

from fabriscope.analysis.curve import IDENTITY, Curve
from fabriscope.analysis.frames import group_accounts
from fabriscope.analysis.rows import frame_of, parts, rows_of
from fabriscope.analysis.values.estimates import Centre, Estimate, estimates_of
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.model.benchmark_kind import OF_STREAMS, PAIR
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.record import GroupAccount
from fabriscope.model.run_data import RunData

CURVE = (*IDENTITY, "metric_id")
POINT = ("size_bytes", "value", "low", "high")
GROUP_SCHEMA = {
    **dict.fromkeys(IDENTITY, pl.String),
    "metric_id": pl.String,
    "rank_count": pl.Int32,
    **{
        f"{end}_{name}": pl.Int64 if name == "size_bytes" else pl.Float64 for end in ("first", "last") for name in POINT
    },
    "size_count": pl.Int32,
    "launch_count": pl.Int64,
    "operation_count": pl.Int64,
    "late_operation_count": pl.Int64,
    "clock_error_ns": pl.Int64,
    "slowest_rank": pl.Int32,
    "slowest_host": pl.String,
    "slowest_share": pl.Float64,
}


@dataclass(frozen=True)
class End:
    """A curve at its smallest or largest size."""

    size_bytes: int
    centre: Centre


@dataclass(frozen=True)
class Group(Curve):
    """One curve of a benchmark of many ranks: a row of `groups`, which says what the fields are."""

    metric_id: str
    rank_count: int
    first_size_bytes: int
    first_value: float
    first_low: float | None
    first_high: float | None
    last_size_bytes: int
    last_value: float
    last_low: float | None
    last_high: float | None
    size_count: int
    launch_count: int
    operation_count: int
    late_operation_count: int
    clock_error_ns: int | None
    slowest_rank: int | None
    slowest_host: str | None
    slowest_share: float | None

    @property
    def first(self) -> End:
        """Return the curve at its smallest size."""
        return End(self.first_size_bytes, Centre(self.first_value, self.first_low, self.first_high))

    @property
    def last(self) -> End:
        """Return the curve at its largest size."""
        return End(self.last_size_bytes, Centre(self.last_value, self.last_low, self.last_high))


@dataclass
class _Account:
    """What the launches told of all cases of one curve together."""

    operation_count: int = 0
    late_operation_count: int = 0
    clock_errors_ns: list[int] = field(default_factory=list)
    slowest: Counter[int] = field(default_factory=Counter)

    def add(self, account: GroupAccount) -> None:
        self.operation_count += account.operation_count or 0
        self.late_operation_count += account.late_operation_count or 0
        if account.clock_error_ns is not None:
            self.clock_errors_ns.append(int(account.clock_error_ns))
        self.slowest.update(account.slowest_ranks or {})


def groups(run: RunData, values: pl.DataFrame) -> pl.DataFrame:
    """Return one row for each curve of a benchmark of many ranks, GROUP_SCHEMA, in the plan's order.

    `first_` and `last_` are the estimates at its smallest and its largest size. `operation_count` are the operations
    that count, `late_operation_count` those that were left out because a rank began late; `clock_error_ns` is the most
    by which the common clock may have been wrong in any launch, null for other timings. `slowest_rank` is the one
    that finished last most often, in `slowest_share` of the operations. `values` are launch values.
    """
    return frame_of(grouped(run, values), GROUP_SCHEMA)


def grouped(run: RunData, values: pl.DataFrame) -> list[Group]:
    """Return the curves of benchmarks of many ranks; see `groups`."""
    shared = [name for (name,) in values.select("benchmark").unique().iter_rows() if kind_of(name).pattern != PAIR]
    of_groups = values.filter(pl.col("benchmark").is_in(shared), ~pl.col("impossible"))
    accounts = group_accounts(run)
    counted = set(of_groups.select("launch_id", "case_id").iter_rows())
    rows = rows_of(estimates_of(of_groups, rules_of(run).method), Estimate)
    found = []
    for part in parts(rows, lambda row: (row.curve, row.metric_id)):
        account = _Account()
        of_part = {row.case_id for row in part}
        for launch, of_launch in accounts.items():
            if launch[1] in of_part and launch in counted:
                account.add(of_launch)
        hosts = run.manifest.cases[part[0].case_id].entry.hosts
        found.append(_group(sorted(part, key=lambda row: row.message_size_bytes), account, hosts))
    return found


def _group(part: list[Estimate], account: _Account, hosts: tuple[str, ...]) -> Group:
    first, last = part[0], part[-1]
    slowest = (
        account.slowest if kind_of(first.benchmark).pattern not in OF_STREAMS else {}
    )  # there who receives ends it
    rank, count = account.slowest.most_common(1)[0] if slowest else (None, 0)
    return Group(
        **vars(first.curve),
        metric_id=first.metric_id,
        rank_count=first.rank_count,
        first_size_bytes=first.message_size_bytes,
        first_value=first.value,
        first_low=first.low,
        first_high=first.high,
        last_size_bytes=last.message_size_bytes,
        last_value=last.value,
        last_low=last.low,
        last_high=last.high,
        size_count=len(part),
        launch_count=max(row.launch_count for row in part),
        operation_count=account.operation_count,
        late_operation_count=account.late_operation_count,
        clock_error_ns=max(account.clock_errors_ns, default=None),
        slowest_rank=rank,
        slowest_host=hosts[rank] if rank is not None and rank < len(hosts) else None,
        slowest_share=count / account.slowest.total() if rank is not None else None,
    )
