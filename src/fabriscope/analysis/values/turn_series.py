"""What each case came to turn by turn, of launches that measured in turns with others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

import numpy as np
import polars as pl

from fabriscope.analysis.numbers.neighbours import Series
from fabriscope.analysis.values.batches import batches
from fabriscope.model.benchmark_kind import OF_STREAMS
from fabriscope.model.benchmarks import kind_of
from fabriscope.model.measurement import OPERATION
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.model.turns import TurnsTaken

LEAST_CYCLES = 3
"""Of fewer a median says no more than the launch's own."""
SeriesOf = Mapping[tuple[int, str], Series]
"""Launch id and case id to it."""
NO_TURNS: SeriesOf = MappingProxyType({})


def turn_series(run: RunData) -> SeriesOf:
    """Return the series of every case that was measured in turns; nothing for runs without turns.

    A launch that was started again after a case had hung has two clocks, and what it says of its turns is of the last.
    """
    in_turns = {record.launch_id: told for record in run.journal if (told := _turns_of(record)) is not None}
    if not in_turns:
        return {}
    streams = [case_id for case_id, case in run.manifest.cases.items() if kind_of(case.benchmark).pattern in OF_STREAMS]
    found: dict[tuple[int, str], Series] = {}
    for batch in batches(run, in_turns):
        bursts = _bursts(run.samples.filter(pl.col("launch_id").is_in(batch), ~pl.col("case_id").is_in(streams)))
        for (launch_id,), part in bursts.partition_by("launch_id", as_dict=True, maintain_order=True).items():
            found |= {(launch_id, case_id): one for case_id, one in _of_launch(part, *in_turns[launch_id])}
    return found


def burst_series(run: RunData) -> SeriesOf:
    """Return likewise what launches came to burst by burst that did not measure in turns; each stands by itself."""
    streams = [case_id for case_id, case in run.manifest.cases.items() if kind_of(case.benchmark).pattern in OF_STREAMS]
    alone = [record.launch_id for record in run.journal if _turns_of(record) is None]
    found: dict[tuple[int, str], Series] = {}
    for batch in batches(run, alone):
        bursts = _bursts(run.samples.filter(pl.col("launch_id").is_in(batch), ~pl.col("case_id").is_in(streams)))
        parts = bursts.partition_by("launch_id", "case_id", as_dict=True, maintain_order=True)
        for (launch_id, case_id), part in parts.items():
            if part.height >= LEAST_CYCLES:
                logs, mean = part.get_column("median").log().to_numpy(), part.select(_MEAN.log()).item()
                means = (part.get_column("total") / part.get_column("operations")).to_numpy()
                numbers = np.arange(part.height, dtype=np.int64)
                series = Series(numbers, logs, means, float(np.median(logs)), mean, f"launch {launch_id}")
                found[launch_id, str(case_id)] = series
    return found


def _turns_of(record: LaunchRecord) -> tuple[TurnsTaken, str] | None:
    """Return what a launch tells of its turns, and its group; None where they cannot be set beside others."""
    details = record.details
    if not details.turns or not details.turns.turns or not details.turn_group or details.hung_case_ids:
        return None
    return details.turns, details.turn_group


def _bursts(samples: pl.LazyFrame) -> pl.DataFrame:
    """Return one row for each burst that counts, in the order of time."""
    measured = samples.filter(
        pl.col("phase") == "measure", pl.col("quantity") == OPERATION, pl.col("value").is_finite(), pl.col("value") > 0
    )
    grouped = measured.group_by("launch_id", "case_id", "burst").agg(
        pl.col("start_ns").first(),
        (pl.col("value") / pl.col("operations_per_sample")).median().alias("median"),
        pl.col("value").sum().alias("total"),
        pl.col("operations_per_sample").sum().alias("operations"),
    )
    return grouped.sort("launch_id", "start_ns", "burst", "case_id").collect(engine="streaming")


def _of_launch(bursts: pl.DataFrame, turns: TurnsTaken, group: str) -> Iterator[tuple[str, Series]]:
    begins = np.array([begin_ns for _, begin_ns in turns.turns], dtype=np.int64)
    cycles = np.array([cycle for cycle, _ in turns.turns], dtype=np.int64)
    turn = np.searchsorted(begins, bursts.get_column("start_ns").to_numpy(), side="right") - 1
    known = bursts.with_columns(pl.Series("cycle", cycles[np.clip(turn, 0, None)])).filter(pl.Series(turn >= 0))
    of_launch = known.group_by("case_id").agg(_LOG_MEDIAN, _MEAN.log())
    whole = {case_id: (median_log, mean_log) for case_id, median_log, mean_log in of_launch.iter_rows()}
    for (case_id,), part in known.partition_by("case_id", as_dict=True, maintain_order=True).items():
        of_cycles = part.group_by("cycle").agg(_MEDIAN_OF_LOGS, _MEAN).sort("cycle")
        if of_cycles.height >= LEAST_CYCLES:
            in_cycles, logs, means = (column.to_numpy() for column in of_cycles.get_columns())
            yield str(case_id), Series(in_cycles, logs, means, *whole[case_id], group)


_LOG_MEDIAN = pl.col("median").median().log().alias("log_median")
_MEDIAN_OF_LOGS = pl.col("median").log().median().alias("log")
_MEAN = (pl.col("total").sum() / pl.col("operations").sum()).alias("mean")
