"""What hosts counted over time, as a frame."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from fabriscope.analysis.incast.host_series import HOST_SCHEMA, host_series_frame
from fabriscope.model.counters import DeviceSeries, Watch
from fabriscope.model.manifest import Manifest
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.model.switch_series import Counted

WATCH = Watch("a", "boot", {}, {}, ())
SERIES = DeviceSeries("eth0", 1, (5, 9), (2, 3), {"rx_bytes": (7, 2**64 - 1), "rx_dropped": (0, 1)})


def frame(*watches: Watch) -> pl.DataFrame:
    """Return the frame of a run of one launch."""
    record = LaunchRecord(launch_id=3, block=1, counters="counters/launch-0003.json.gz")
    counted = Counted({watch.host: watch for watch in watches})
    return host_series_frame(RunData("", Manifest(2), (record,), pl.LazyFrame(), counters=lambda _: counted))


def test_each_counter_that_grew_in_a_period_is_a_row() -> None:
    told = frame(replace(WATCH, series=(SERIES,)), replace(WATCH, host="b"))
    assert told.rows() == [
        (3, "a", "eth0", 5, 2, "rx_bytes", 7),
        (3, "a", "eth0", 9, 3, "rx_bytes", 2**64 - 1),
        (3, "a", "eth0", 9, 3, "rx_dropped", 1),
    ]


def test_without_a_series_there_is_no_row() -> None:
    assert frame(WATCH).is_empty()
    assert dict(frame().schema) == dict(HOST_SCHEMA)
