"""One thing that was measured by several definitions at once, and which of them a table of one number shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from fabriscope.analysis.values.estimates import Estimate
from fabriscope.model.metrics import definitions_of


def one_definition(values: pl.DataFrame, metric_id: str, curve: Sequence[str]) -> pl.DataFrame:
    """Return the values of a metric, of each curve by one definition of its buffers: the default's if it was measured.

    `metric_id` may be that of any of the definitions; the id of the rows stays what it is.
    """
    ids = definitions_of(metric_id) or (metric_id,)
    some = values.filter(pl.col("metric_id").is_in(ids))
    place = pl.col("metric_id").replace_strict(ids, list(range(len(ids))), return_dtype=pl.Int32)
    return some.filter(place == place.min().over(curve))


def shown_definition(rows: Iterable[Estimate], metric_id: str) -> str | None:
    """Return the id by which `one_definition` shows these estimates of one curve; None where there are none."""
    known = {row.metric_id for row in rows}
    return next((one for one in definitions_of(metric_id) if one in known), None)
