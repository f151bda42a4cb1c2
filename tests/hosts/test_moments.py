"""What a host's interface and RDMA port count over time: nothing is lost between two looks, however seldom they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.hosts.test_counters import HERE, LONG_S, TALK

from fabriscope.hosts import counters
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.counters import DeviceSeries
from fabriscope.store import counters as kept


class _Time:
    """A clock that tests move; each look at the processor's time finds that another `cost_s` went by."""

    def __init__(self) -> None:
        self.now_s, self.used_s, self.cost_s = 100.0, 0.0, 0.0

    def monotonic(self) -> float:
        return self.now_s

    def time(self) -> float:
        return self.now_s + 1e9

    def process_time(self) -> float:
        self.used_s += self.cost_s
        return self.used_s


@pytest.fixture
def clock(parts: dict[str, Any]) -> _Time:
    parts["time"] = clock = _Time()
    return clock


def port(folder: Path, **counts: int) -> Path:
    """Write the counters of a port below a folder as the kernel lists them; return the folder."""
    for name, value in counts.items():
        place = folder / "rxe0" / "ports" / "1" / ("counters" if name.startswith("port_") else "hw_counters")
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(f"{value}\n")
    return folder


def looks(parts: dict[str, Any], folder: Path) -> Any:
    return parts["Moments"]({"port": "rxe0/1"}, None, str(folder), {})


def taken(moments: Any, clock: _Time) -> Iterator[None]:
    """Let time pass until the next look, again and again."""
    while True:
        clock.now_s = moments.next_s
        moments.take(clock.now_s)
        yield


def test_a_period_has_what_came_in_it_and_none_is_told_without(
    parts: dict[str, Any], clock: _Time, tmp_path: Path
) -> None:
    folder = port(tmp_path, port_rcv_data=5, rcvd_pkts=7)
    moments = looks(parts, folder)
    steps = taken(moments, clock)
    next(steps)
    port(folder, rcvd_pkts=9)
    next(steps)
    next(steps)
    port(folder, rcvd_pkts=10, port_rcv_data=8)
    next(steps)
    (row,) = moments.rows()
    assert row["device"] == "rxe0/1"
    assert row["counters"] == {"port_rcv_data": [0, 3], "hw.rcvd_pkts": [2, 1]}
    assert [round(length / 1e6) for length in row["length_ns"]] == [10, 10]
    assert [round((at_ns / 1e9 - 1e9 - 100) * 1000) for at_ns in row["at_unix_ns"]] == [10, 30]


def test_of_more_than_is_kept_neighbours_become_one_and_nothing_is_lost(
    parts: dict[str, Any], clock: _Time, tmp_path: Path
) -> None:
    parts["MOST_MOMENTS"] = 4
    folder = port(tmp_path, rcvd_pkts=0)
    moments = looks(parts, folder)
    steps = taken(moments, clock)
    for count in range(1, 24):
        next(steps)
        port(folder, rcvd_pkts=count)
    next(steps)
    (row,) = moments.rows()
    assert len(row["at_unix_ns"]) <= 5
    assert sum(row["counters"]["hw.rcvd_pkts"]) == 23
    begins = [at_ns - length for at_ns, length in zip(row["at_unix_ns"], row["length_ns"], strict=True)]
    assert all(begin >= end - 1000 for end, begin in zip(row["at_unix_ns"], begins[1:], strict=False))


def test_looks_that_cost_much_are_seldom(parts: dict[str, Any], clock: _Time, tmp_path: Path) -> None:
    moments = looks(parts, port(tmp_path, rcvd_pkts=0))
    clock.cost_s = 0.001
    steps = taken(moments, clock)
    next(steps)
    began_s, used_s = clock.now_s, clock.used_s
    for _ in range(50):
        next(steps)
    assert (clock.used_s - used_s) / (clock.now_s - began_s) < 2 * parts["MOMENTS_SHARE"]


def test_an_interface_that_is_not_there_is_a_problem_and_the_rest_is_told(tmp_path: Path) -> None:
    devices = {HERE.name: {"interface": "none0"}}
    watchers = counters.commands([HERE], devices=devices, sys_folder=str(tmp_path))
    outcome, _ = run_commands([Command(("true",), HERE.name)], {HERE.name: HERE}, timeout_s=LONG_S, watchers=watchers)
    watch = counters.parse(outcome)
    assert watch.series == ()
    assert watch.problems["counters of none0 over time"] == "there is no interface none0"
    assert len(watch.readings) >= 2


def test_what_was_sent_over_an_interface_is_in_its_periods_and_is_kept() -> None:
    command = Command((sys.executable, "-I", "-c", TALK, "3000000", "10", "0.1", "127.0.0.1"), HERE.name)
    watchers = counters.commands([HERE], devices={HERE.name: {"interface": "lo"}})
    outcome, said = run_commands([command], {HERE.name: HERE}, timeout_s=LONG_S, watchers=watchers)
    assert said.exit_status == 0, said.stderr
    watch = counters.parse(outcome)
    (series,) = watch.series
    assert sum(series.counters["rx_bytes"]) >= 3_000_000
    assert series.since_unix_ns <= series.at_unix_ns[0] <= watch.readings[-1].unix_ns
    assert kept.decode(kept.encode({HERE.name: watch})).watches[HERE.name].series == (series,)


def test_a_series_whose_values_are_not_its_periods_is_refused() -> None:
    with pytest.raises(ValueError, match="rx_bytes of eth0 has 1 of 2 values"):
        DeviceSeries("eth0", 1, (5, 6), (1, 1), {"rx_bytes": (1,)})
    with pytest.raises(ValueError, match="the periods of eth0 do not follow each other"):
        DeviceSeries("eth0", 1, (5, 5), (1, 1), {})
