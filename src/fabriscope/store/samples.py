"""Samples as parquet: one file for each launch, the columns of `model.run_data.SAMPLE_COLUMNS`."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fabriscope.model.errors import ParseError, shown
from fabriscope.model.limits import MOST_VALUE
from fabriscope.model.measurement import PAIR_OPERATION, PARTIAL, PHASES, SampleBlock
from fabriscope.model.metrics import unit_of
from fabriscope.model.record import LaunchRecord

if TYPE_CHECKING:
    import polars as pl

ADDED_COLUMNS = ("rank", "peer")
"""Columns that the first files of version 1 lack."""
MOST_ROWS = 10_000_000
MOST_ROWS_PER_BYTE = 16
MOST_QUANTITIES = 64
MOST_NAME_BYTES = 200
"""Of one launch, whichever is more: measured values take a byte or so, equal ones pack to nothing."""


def schema() -> dict[str, Any]:
    """Return column name to polars type."""
    import polars as pl

    return {
        "launch_id": pl.Int32,
        "block": pl.Int32,
        "case_id": pl.String,
        "rank": pl.Int32,
        "peer": pl.Int32,
        "quantity": pl.String,
        "phase": pl.String,
        "round": pl.Int32,
        "burst": pl.Int32,
        "start_ns": pl.Int64,
        "operations_per_sample": pl.Int32,
        "value": pl.Float64,
    }


def frame_of(launch_id: int, block: int, blocks: Sequence[SampleBlock] | pl.DataFrame) -> pl.DataFrame:
    """Return the samples of one launch; blocks without values leave no trace."""
    import numpy as np
    import polars as pl

    if isinstance(blocks, pl.DataFrame):
        return blocks.select(pl.col(name).cast(kind) for name, kind in schema().items())

    kept = [one for one in blocks if len(one.values) > 0]
    about_blocks = pl.DataFrame(
        {
            "launch_id": [launch_id] * len(kept),
            "block": [block] * len(kept),
            "case_id": [one.case_id for one in kept],
            "rank": [one.rank for one in kept],
            "peer": [one.peer for one in kept],
            "quantity": [one.quantity for one in kept],
            "phase": [one.phase for one in kept],
            "round": [one.round for one in kept],
            "burst": [one.burst for one in kept],
            "start_ns": [one.start_ns for one in kept],
            "operations_per_sample": [one.operations_per_sample for one in kept],
        },
        schema={name: kind for name, kind in schema().items() if name != "value"},
    )
    counts = [len(one.values) for one in kept]
    values = np.concatenate([np.asarray(one.values, dtype=np.float64) for one in kept]) if kept else np.empty(0)
    rows = np.repeat(np.arange(len(kept), dtype=np.int64), counts)
    return about_blocks[rows].with_columns(pl.Series("value", values, dtype=pl.Float64))


def encode(frame: pl.DataFrame) -> bytes:
    """Return the samples of one launch as a parquet file."""
    stream = io.BytesIO()
    frame.write_parquet(stream, compression="zstd")
    return stream.getvalue()


def decode(content: bytes) -> pl.DataFrame:
    """Return the samples of one file; raises ValueError for what is no such file."""
    import polars as pl

    try:
        with _silence():  # polars says on its own what it panics over
            check_row_count(content)
            return pl.read_parquet(io.BytesIO(content), glob=False)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(f"no samples can be read from it: {error}") from error


def check_row_count(content: bytes) -> None:
    """Raise ValueError for a file with more rows than we read: by its footer, since equal rows pack to nothing."""
    import polars as pl

    count = pl.scan_parquet(io.BytesIO(content), glob=False).select(pl.len()).collect().item()
    most = max(MOST_ROWS, MOST_ROWS_PER_BYTE * len(content))
    if count > most:
        raise ValueError(f"it has {count} rows, and {most} are the most that we read of {len(content)} bytes")


@contextlib.contextmanager
def _silence() -> Iterator[None]:
    """Let nothing be written to the process's standard error, not even by native code."""
    before = os.dup(2)
    try:
        with Path(os.devnull).open("wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        yield
    finally:
        os.dup2(before, 2)
        os.close(before)


def check(content: bytes, record: LaunchRecord | None = None, rank_count: int | None = None) -> None:
    """Raise ValueError for a file that has not the columns and types of samples, or rows that the launch cannot have.

    Without its record the columns alone are looked at; without its count of ranks, any rank is one.
    """
    import polars as pl

    try:
        found = pl.read_parquet_schema(io.BytesIO(content))
        for name, kind in schema().items():
            if name not in found and name not in ADDED_COLUMNS:
                raise ValueError(f"the column {name} is missing")
            if name in found and found[name] != kind:
                raise ValueError(f"the column {name} is of the type {found[name]}, and must be {kind}")
        with _silence():  # polars says on its own what it panics over
            check_row_count(content)
            if record is not None:
                _check_rows(content, found, _impossible(record, rank_count))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        raise ValueError(f"no samples can be read from it: {error}") from error


def _check_rows(content: bytes, columns: Container[str], impossible: Mapping[str, pl.Expr]) -> None:
    import polars as pl

    frame = pl.scan_parquet(io.BytesIO(content), glob=False)
    wrong = {name: rule for name, rule in impossible.items() if name in columns}
    names = pl.col("quantity").unique().head(MOST_QUANTITIES + 1).implode()
    facts = frame.select(
        pl.len().alias("rows"), names, *(rule.any().alias(f"wrong {name}") for name, rule in wrong.items())
    )
    row_count, quantities, *are_wrong = facts.collect(engine="streaming").row(0)
    if not row_count:
        raise ValueError("it holds no samples")
    bad = next((name for name, is_wrong in zip(wrong, are_wrong, strict=True) if is_wrong), None)
    if bad is not None:
        value = frame.filter(wrong[bad]).select(bad).head(1).collect(engine="streaming").item()
        raise ValueError(f"the column {bad} has {shown(value)}, which no sample of this launch can have")
    if len(quantities) > MOST_QUANTITIES:
        raise ValueError(f"it has more than {MOST_QUANTITIES} quantities")
    for quantity in quantities:
        try:
            unit_of(quantity)
        except ParseError as error:
            raise ValueError(f"the column quantity has {shown(quantity)}: {error.what}") from error


def _impossible(record: LaunchRecord, rank_count: int | None) -> dict[str, pl.Expr]:
    """Return what is true of rows that this launch cannot have, by the column that is wrong in them."""
    import polars as pl

    col = pl.col
    needed = {
        "launch_id": col("launch_id") != record.launch_id,
        "block": col("block") != record.block,
        "case_id": ~col("case_id").is_in(list(record.results)),
        "quantity": col("quantity").str.len_bytes() > MOST_NAME_BYTES,
        "phase": ~col("phase").is_in(list(PHASES)),
        "operations_per_sample": col("operations_per_sample") < 1,
        "value": ~col("value").is_between(0, MOST_VALUE),
    }
    rules = {name: rule | col(name).is_null() for name, rule in needed.items()}
    counts = ("round", "burst", "start_ns", "rank", "peer")
    rules |= {name: (col(name) < 0).fill_null(value=False) for name in counts}
    if rank_count is not None:
        rules |= {name: rules[name] | (col(name) >= rank_count).fill_null(value=False) for name in ADDED_COLUMNS}
    of_ranks = {"rank": col("quantity").is_in(list(PARTIAL)), "peer": col("quantity") == PAIR_OPERATION}
    return rules | {name: rules[name] | (col(name).is_null() & rule) for name, rule in of_ranks.items()}


def scan(paths: Sequence[Path]) -> pl.LazyFrame:
    """Return all samples of these files as one lazy frame, in their order; an empty one for no files.

    A column that files of an older fabriscope lack is null there.
    """
    import polars as pl

    if not paths:
        return pl.LazyFrame(schema=schema())
    frames = []
    for missing, some in itertools.groupby(paths, key=_missing):
        frame = pl.scan_parquet([str(path) for path in some], glob=False)
        frame = frame.with_columns(pl.lit(None, dtype=schema()[name]).alias(name) for name in missing)
        frames.append(frame.select(list(schema())))
    return frames[0] if len(frames) == 1 else pl.concat(frames)


def _missing(path: Path) -> tuple[str, ...]:
    """Return the columns that a file lacks because they came later; a damaged file says so when it is read."""
    import polars as pl

    with contextlib.suppress(OSError, pl.exceptions.PolarsError):
        present = pl.read_parquet_schema(path)
        return tuple(name for name in ADDED_COLUMNS if name not in present)
    return ()
