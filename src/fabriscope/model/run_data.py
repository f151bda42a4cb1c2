"""A run as it was read back: what analysis and reports work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

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
    """One run folder: the manifest, the journal's records in order, and the samples (SAMPLE_COLUMNS)."""

    path: str
    manifest: dict[str, Any]
    journal: tuple[dict[str, Any], ...]
    samples: pl.LazyFrame
