"""The table of collectives and pairs: times at the ends of the sizes, slowest rank, late rounds, clock error."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from fabriscope.analysis.frames import IDENTITY, group_accounts
from fabriscope.analysis.values.estimates import estimates_of
from fabriscope.analysis.values.stopping import rules_of
from fabriscope.model.benchmarks import PAIR, kind_of
from fabriscope.model.record import GroupAccount
from fabriscope.model.run_data import RunData

CURVE = (*IDENTITY, "metric_id")
POINT = ("size_bytes", "value", "low", "high")
GROUP_SCHEMA: dict[str, Any] = {
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
    shared = [name for name in values["benchmark"].unique().to_list() if kind_of(name).pattern != PAIR]
    of_groups = values.filter(pl.col("benchmark").is_in(shared), ~pl.col("impossible"))
    accounts = group_accounts(run)
    counted = set(of_groups.select("launch_id", "case_id").iter_rows())
    hosts = {case_id: case.entry.hosts for case_id, case in run.manifest.cases.items()}
    rows = []
    for part in estimates_of(of_groups, rules_of(run).method).partition_by(CURVE, maintain_order=True):
        account = _Account()
        of_part = set(part["case_id"])
        for launch, of_launch in accounts.items():
            if launch[1] in of_part and launch in counted:
                account.add(of_launch)
        rows.append(_row(part.sort("message_size_bytes"), account, hosts[part["case_id"][0]]))
    return pl.DataFrame(rows, schema=GROUP_SCHEMA)


def _row(part: pl.DataFrame, account: _Account, hosts: tuple[str, ...]) -> dict[str, Any]:
    ends = {"first": part.row(0, named=True), "last": part.row(-1, named=True)}
    rank, count = account.slowest.most_common(1)[0] if account.slowest else (None, 0)
    return {
        **{name: part[name][0] for name in (*CURVE, "rank_count")},
        **{
            f"{end}_{name}": row["message_size_bytes" if name == "size_bytes" else name]
            for end, row in ends.items()
            for name in POINT
        },
        "size_count": part.height,
        "launch_count": part["launch_count"].max(),
        "operation_count": account.operation_count,
        "late_operation_count": account.late_operation_count,
        "clock_error_ns": max(account.clock_errors_ns, default=None),
        "slowest_rank": rank,
        "slowest_host": hosts[rank] if rank is not None and rank < len(hosts) else None,
        "slowest_share": count / account.slowest.total() if rank is not None else None,
    }
