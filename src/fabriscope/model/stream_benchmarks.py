"""Benchmarks of many to one and many to many: the streams, what they do to a bystander; and one to many."""

from __future__ import annotations

from fabriscope.model.benchmark_kind import BESIDE, GROUP, STREAMS, TO_MANY, BenchmarkKind

CONGESTION, UNDER_INCAST, UNCONGESTED = "congestion", "incast", "none"
"""The parameter of a bystander's benchmarks, and its values: measured while many send to one, and while nobody does."""
_BESIDE_THE_INCAST = (CONGESTION, "incast_size_bytes", "victim_traffic_class")


def _of_streams(name: str, title: str, pattern: str) -> BenchmarkKind:
    return BenchmarkKind(
        name, title, pattern, ("mode", "duration_ms"),
        ("aggregate_bytes_per_s", "slowest_stream_bytes_per_s", "fairness_ratio"), has_window=True, window=4,
        least_size=1,
    )  # fmt: skip


STREAM_BENCHMARKS = (
    _of_streams("many_to_one", "many to one", STREAMS),
    _of_streams("many_to_many", "many to many", TO_MANY),
    BenchmarkKind(
        "one_to_many", "one to many", GROUP, metrics=("one_to_many_bandwidth_bytes_per_s",), has_window=True, window=1,
        least_size=1,
    ),
    BenchmarkKind(
        "victim_latency", "latency of a victim", BESIDE, _BESIDE_THE_INCAST, ("victim_latency_ns",), least_size=1
    ),
    BenchmarkKind(
        "victim_bandwidth", "bandwidth of a victim", BESIDE, _BESIDE_THE_INCAST, ("victim_bandwidth_bytes_per_s",),
        has_window=True, window=16, least_size=1,
    ),
)  # fmt: skip
