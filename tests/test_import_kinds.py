"""Logs of one program that measured different things are no replicates of each other."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
from click.testing import CliRunner

from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.cli import fabriscope
from fabriscope.running import importing

DATA = Path(__file__).parent / "readers" / "data"


def curves(*paths: Path, output: Path, **labels: str) -> set[tuple[str, str, str, int]]:
    importing.run(paths, output, labels)
    rows = results_of(store.open_run(output).read()).estimates
    rates = rows.filter(pl.col("metric_id").str.contains("bandwidth|latency_ns_mean"))
    return set(rates.select("layer", "series", "metric_id", "launch_count").iter_rows())


def test_what_iperf_measured_another_way_is_another_curve(tmp_path: Path) -> None:
    names = ("text_client", "text_server", "text_udp", "text_reverse", "text_short_end")
    found = curves(*(DATA / "iperf3" / f"{name}.txt" for name in names), output=tmp_path / "run")
    assert {layer for layer, *_ in found} == {"tcp", "udp"}
    assert all((layer == "udp") == ("protocol UDP" in told) for layer, told, *_ in found)
    told = {told for _, told, *_ in found}
    assert {"reverse 1, sender", "reverse 1, receiver", "protocol UDP, sender", "protocol UDP, receiver"} <= told
    assert {"stream count 2, receiver"} <= told
    of_three = curves(
        *(DATA / "iperf3" / f"{name}.txt" for name in names), output=tmp_path / "labelled", layer="roce"
    )  # fmt: skip
    assert {told for _, told, *_ in of_three} == told  # a label of the user's does not join them


def test_a_sockperf_under_load_is_no_ping_pong(tmp_path: Path) -> None:
    found = curves(*(DATA / "sockperf" / f"{name}.txt" for name in ("full_rtt", "under_load")), output=tmp_path / "run")
    assert {(metric, count) for *_, metric, count in found} == {("sockperf_under_load_latency_ns_mean", 1)}


def test_what_states_no_message_size_is_at_no_size(tmp_path: Path) -> None:
    """iperf3's text names none: 0 B would be a message without payload, which has no bandwidth."""
    importing.run([DATA / "iperf3" / "text_client.txt"], tmp_path / "run", {"fabric": "gige"})
    shown = CliRunner().invoke(fabriscope, ["show", str(tmp_path / "run")])
    assert shown.exit_code == 0
    assert "iperf3_total_bandwidth_bytes_per_s" in shown.output
    assert not re.search(r"\b0 B\b|every size", shown.output), shown.output
