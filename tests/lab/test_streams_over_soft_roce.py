"""Many to many between guests, over each layer that speaks there, by our engine and by perftest."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from tests import needs

from fabriscope import plan as plans
from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.analysis.values.streams import windows_by_launch
from fabriscope.model.run_data import RunData
from fabriscope.progress import QuietProgress
from fabriscope.running import run, verify
from fabriscope.running.vocabulary import vocabulary

pytestmark = pytest.mark.timeout(1200)  # guests share the processors of a busy machine

GUESTS = """
guests: all
fabrics: {roce: {lab: {preset: ethernet-100, rate: 10Mb/s, buffer: 256KiB, on_full: pause}, rdma: soft-roce}}
"""
NAMESPACES = "\nfabrics: {net: {lab: {preset: ethernet-100, rate: 10Mb/s, buffer: 256KiB, on_full: pause}}}\n"
PLAN = """
name: between-hosts
hosts: g[1-4]
many_to_many: {to: 'g[1-2]', from: 'g[3-4]', streams: 1}
launches: 1
budget: 1s
floor: false
case_timeout: 60s  # at 10 Mb/s, on processors that other tests use
"""


def measured(text: str, tmp_path: Path) -> RunData:
    (tmp_path / "plan.yaml").write_text(PLAN + text)
    plan = plans.load(tmp_path / "plan.yaml", vocabulary())
    run.start(plan, tmp_path / "run", QuietProgress(), threading.Event())
    return store.open_run(tmp_path / "run").read()


@pytest.mark.parametrize(
    ("layers", "hosts"),
    [(("verbs", "libfabric-verbs"), GUESTS), (("libfabric-tcp",), NAMESPACES)],
    ids=["guests", "namespaces"],
)
def test_several_hosts_receive_at_once_over_verbs_and_libfabric(
    layers: tuple[str, ...], hosts: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In guests libfabric takes a minute to begin, as it writes what its queues may hold; over TCP it needs none."""
    for name in ("TX_SIZE", "RX_SIZE", "MSG_TX_SIZE", "MSG_RX_SIZE"):
        monkeypatch.setenv(f"FI_OFI_RXM_{name}", "128")
    needs.soft_roce() if hosts is GUESTS else needs.lab()
    needs.transport("libfabric")
    options = ", verbs: {completion: event}" if hosts is GUESTS else ""
    of_engine = f"benchmarks: {{many_to_many: {{sizes: [8KiB], mode: [streams, rounds]{options}}}}}\n"
    data = measured(f"{hosts}layers: [{', '.join(layers)}]\n{of_engine}", tmp_path)
    reasons = {record.entry_id: record.reason for record in data.journal if record.status != "ok"}
    assert not reasons
    windows = {data.manifest.cases[case_id]: one for (_, case_id), (one,) in windows_by_launch(data).items()}
    assert {(case.entry.layer, case.series) for case in windows} == {
        (layer, f"mode {mode}") for layer in layers for mode in ("streams", "rounds")
    }
    for window in windows.values():
        assert {rank: window.receiver_of(rank) for rank in window.series} == {2: 0, 3: 1}
        assert all(sum(counts) > 0 for counts in window.series.values())
    for curve in results_of(data).incast_curves:  # of windows whose streams overlapped
        (point,) = curve.points
        assert (curve.receiver_count, point.stream_count) == (2, 2)
        assert point.share_of_limit is None or 0 < point.share_of_limit <= 1.01


def test_perftest_sends_the_streams_of_guests(tmp_path: Path) -> None:
    needs.soft_roce()
    needs.program("ib_write_bw")
    asked = "benchmarks: {many_to_many: {sizes: [8KiB], verbs: {ack_timeout: 18}}}\n"
    data = measured(f"{GUESTS}layers: [verbs]\ninstruments: [ib_write_bw, ib_send_bw]\n{asked}", tmp_path)
    reasons = [record.reason or "" for record in data.journal if record.status != "ok"]
    late = [reason for reason in reasons if " s were asked for" in reason]  # the alarm of a guest that had no processor
    assert reasons == late
    windows = [window for of_launch in windows_by_launch(data).values() for window in of_launch]
    shapes = [(len(one.series), len(one.receiver_starts_ns), one.margin_ns) for one in windows]
    assert shapes == [(2, 2, 3 * 10**9)] * (2 - len(late))
    assert all(rate > 0 for one in windows for rate in one.rates_bytes_per_s.values())
    shares = [point.share_of_limit for curve in results_of(data).incast_curves for point in curve.points]
    assert all(share is None or 0 < share <= 1.01 for share in shares)
    assert not verify.against_raw(data).findings
    told = {curve.curve.instrument for curve in results_of(data).incast_curves}
    assert told == {data.manifest.cases[one.case_id].entry.instrument for one in windows}
