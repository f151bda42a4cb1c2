"""What the interfaces and RDMA ports of hosts counted over time, while streams were sent."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from fabriscope.model.run_data import RunData

HOST_SCHEMA: Mapping[str, type[pl.DataType]] = {
    "launch_id": pl.Int32,
    "host": pl.String,
    "device": pl.String,
    "at_unix_ns": pl.Int64,
    "length_ns": pl.Int64,
    "counter": pl.String,
    "value": pl.UInt64,
}


def host_series_frame(run: RunData) -> pl.DataFrame:
    """Return one row for each host, device, period and counter that grew in it, HOST_SCHEMA.

    Of launches of streams over a fabric; `at_unix_ns` is the period's end by the host's system clock.
    """
    rows = [
        (record.launch_id, host, series.device, at_ns, length_ns, name, value)
        for record in run.journal
        for host, watch in run.watches(record).items()
        for series in watch.series
        for name, values in series.counters.items()
        for at_ns, length_ns, value in zip(series.at_unix_ns, series.length_ns, values, strict=True)
        if value
    ]
    return pl.DataFrame(rows, schema=HOST_SCHEMA, orient="row")
