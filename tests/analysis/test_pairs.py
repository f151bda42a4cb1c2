"""Every host against every other: the slow host and the slow pair are found among all."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from benchmarks import scale

from fabriscope import store
from fabriscope.analysis.frames import planned_cases
from fabriscope.analysis.values.pairs import pair_matrices
from fabriscope.model.measurement import PAIR_OPERATION, SampleBlock
from fabriscope.registry import discover
from fabriscope.reports._facts import host_table
from fabriscope.reports.base import Options
from fabriscope.running.verify import verify

HOSTS = 30


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written = tmp_path_factory.mktemp("pairs") / "run"
    scale.write(written, HOSTS, 3)
    return written


def test_the_slow_host_and_the_slow_pair_are_named(path: Path) -> None:
    run = store.open_run(path).read()
    matrices = pair_matrices(run, planned_cases(run))
    assert [one.case.message_size_bytes for one in matrices] == list(scale.SIZES)
    for one in matrices:
        assert one.pair_count == HOSTS * (HOSTS - 1) // 2
        assert one.launch_count == 3
        assert one.worst[0][:2] == ("node4", "node6")
        assert one.worst_hosts[0][0] == "node18"
        assert one.worst_hosts[0][1] == pytest.approx(1.6, rel=0.1)
        assert 0 < (one.noise or 0) < 0.05
        assert list(one.quantiles_ns) == sorted(one.quantiles_ns)
        assert np.isnan(np.diagonal(one.picture)).all()
        assert np.nanmax(one.picture[:, 17]) > 1.5
    assert matrices[0].quantiles_ns[3] == pytest.approx(20_000, rel=0.1)


def test_what_no_wire_allows_is_left_out(path: Path) -> None:
    run = store.open_run(path).read()
    is_of_pair = (pl.col("rank") == 1) & (pl.col("peer") == 2)
    value = pl.when(is_of_pair).then(pl.col("value") / 1000).otherwise(pl.col("value"))
    changed = type(run)(run.path, run.manifest, run.journal, run.samples.with_columns(value))
    assert {one.impossible_count for one in pair_matrices(changed, planned_cases(run))} == {1}


def test_it_has_a_report_that_verifies(path: Path) -> None:
    out = path / "report"
    out.mkdir()
    run = store.open_run(path).read()
    for name in ("markdown", "csv"):
        discover("reports", "REPORT").get(name).render(run, out, Options())
    page = (out / "report.md").read_text()
    assert "Every host against every other" in page
    assert "node4 - node6" in page
    assert pl.read_csv(out / "worst-pairs.csv").height > 0
    assert verify(path).findings == ()
    assert host_table(run).columns == [f"{HOSTS} hosts: node1 to node{HOSTS}"]


def test_samples_of_a_pair_come_back(tmp_path: Path) -> None:
    scale.write(tmp_path / "run", 10, 0)
    run = store.open_run(tmp_path / "run")
    case_id = next(iter(run.manifest.cases))
    record = {"launch_id": 1, "block": 1, "status": "ok", "results": {case_id: {"status": "ok", "reason": None}}}
    run.append(record, [SampleBlock(case_id, [100_000], PAIR_OPERATION, rank=2, peer=7)])
    read = run.read()
    assert read.samples.select("rank", "peer", "value").collect().rows() == [(2, 7, 100_000.0)]
    (matrix,) = pair_matrices(read, planned_cases(read))
    ((left, right, value, spread),) = matrix.worst
    assert (left, right, spread) == ("node3", "node8", None)
    assert value == pytest.approx(50_000)
