"""`fabriscope incast --over rdma` between guests: it is measured over Soft RoCE, told and kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests import needs

import fabriscope as api
from fabriscope import store
from fabriscope.analysis.results import results_of
from fabriscope.cli import fabriscope, incast

pytestmark = pytest.mark.timeout(900)  # guests share the processors of a busy machine


def test_guests_send_over_soft_roce(tmp_path: Path) -> None:
    needs.soft_roce()
    words = ["incast", "--to", "g1", "--from", "g[2-3]", "--over", "rdma", "--streams", "2", "--size", "8KiB"]
    words += ["--lab", "ethernet-100,rate=10Mb/s,buffer=256KiB,on_full=pause", "--duration", "100ms"]
    done = CliRunner().invoke(fabriscope, [*words, "--launches", "1", "-q", "-o", str(tmp_path / "run")])
    run = api.load(tmp_path / "run")
    (curve,) = results_of(store.open_run(tmp_path / "run").read()).incast_curves
    assert done.exit_code == incast._status([curve]), done.output
    assert curve.sentence() in " ".join(done.output.split())
    assert curve.curve.layer == "verbs"
    (point,) = curve.points
    assert point.stream_count == 2
    assert point.launch_count + point.refused_window_count >= 1
    assert point.share_of_limit is None or 0 < point.share_of_limit <= 1.01
    assert point.evidence.rdma_retries is not None
    assert set(run.streams()["rank"].unique()) == {1, 2}
