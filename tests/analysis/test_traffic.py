"""What went over each carrier from reading to reading."""

from __future__ import annotations

from collections.abc import Mapping

from fabriscope.analysis.proof.traffic import COUNTED, MOST_SLICES, Flow, flows
from fabriscope.model.counters import PROVED, Books, Carrier, Reading, Watch


def watch(host: str, counts: list[int]) -> Watch:
    """Return a host whose eth0 has sent so much at every second, and whose bridge port counts the same."""
    readings = tuple(
        Reading(second * 10**9, 0, 0, {"eth0": {"tx_bytes": count, "rx_bytes": 0}, "port": {"tx_bytes": count}})
        for second, count in enumerate(counts)
    )
    return Watch(host, "boot", {"eth0": ("10.0.0.1",)}, {}, readings)


def nine_tenths(part: Mapping[str, Watch]) -> Books:
    """Return books in which the job has nine tenths of what the interface counted; nothing where that stood still."""
    found = []
    for host, one in part.items():
        first, last = (one.readings[at].interfaces["eth0"]["tx_bytes"] for at in (0, -1))
        if last > first:
            found.append(Carrier(host, "tcp", "eth0", (last - first) * 9 // 10, 0))
    return Books(PROVED, "", carriers=(*found, Carrier("a", "shm", "x", None, None)))


def of(found: list[Flow], carrier: str) -> list[tuple[float, float, float]]:
    return [(one.start_s, one.end_s, one.sent_bytes_per_s) for one in found if one.carrier == carrier]


def test_a_flow_for_each_slice_and_carrier_and_zero_where_it_rested() -> None:
    found = flows({"a": watch("a", [0, 1000, 1000, 3000])}, nine_tenths)
    assert of(found, "tcp over eth0") == [(0, 1, 900), (1, 2, 0), (2, 3, 1800)]
    assert of(found, COUNTED) == [(0, 1, 1000), (1, 2, 0), (2, 3, 2000)]
    assert {one.carrier for one in found} == {"tcp over eth0", COUNTED}, "memory has no counter"


def test_hosts_with_more_or_fewer_readings_end_together() -> None:
    found = flows({"a": watch("a", [0, 10, 20, 30]), "b": watch("b", [0, 10, 40]), "c": watch("c", [5])}, nine_tenths)
    assert [(one.host, one.end_s) for one in found if one.carrier == COUNTED and one.start_s == 1] == [
        ("a", 3),
        ("b", 2),
    ]
    assert "c" not in {one.host for one in found}


def test_a_long_job_has_longer_slices_and_loses_nothing() -> None:
    counts = list(range(0, 10 * (4 * MOST_SLICES + 3), 10))
    found = [one for one in flows({"a": watch("a", counts)}, nine_tenths) if one.carrier == COUNTED]
    assert len(found) <= MOST_SLICES
    assert sum(one.sent_bytes_per_s * (one.end_s - one.start_s) for one in found) == counts[-1]


def test_without_two_readings_there_is_nothing() -> None:
    assert flows({"a": watch("a", [1])}, nine_tenths) == []
