"""HBase in a lab: the example of it, shortened, run from its plan to its report's numbers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests import needs

import fabriscope

EXAMPLE = needs.ROOT / "examples" / "bigdata.yaml"


@pytest.mark.timeout(600)
def test_ycsb_runs_over_the_fabric_and_its_numbers_are_in_the_store(tmp_path: Path) -> None:
    needs.lab()
    needs.java_app("hbase")
    example = yaml.safe_load(EXAMPLE.read_text())
    of_hbase = {"replication": 2, "records": 100, "operations": 100, "threads": 2, "target": 100}
    shortened = {
        **example,
        "hosts": "node[1-3]",
        "fabrics": {"gige": example["fabrics"]["gige"]},
        "layers": ["hbase"],
        "benchmarks": {"hbase_get": {"sizes": [100]}},
        "services": {"hbase": {**example["services"]["hbase"], **of_hbase}},
        "launches": 1,
        "case_timeout": "400s",
    }
    plan, folder = tmp_path / "plan.yaml", tmp_path / "run"
    plan.write_text(yaml.safe_dump(shortened))
    argv = [sys.executable, "-m", "fabriscope", "run", str(plan), "-o", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=580, check=False)
    assert done.returncode == 0, done.stderr
    (record,) = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    warm_up, measured = record["details"]["ycsb"]
    assert (warm_up["run"], measured["run"]) == (0, 1)
    (regions,) = record["details"]["regions"].values()
    assert list(regions.values()) == [1, 1]
    assert set(measured["hdr_histograms"]) == {"READ", "Intended-READ"}
    assert measured["operations"]["READ"]["ok_count"] == 100
    run = fabriscope.load(folder)
    values = {row["metric_id"]: row["value"] for row in run.estimates().to_dicts()}
    assert values["ycsb_throughput_per_s"] == pytest.approx(measured["throughput_per_s"])
    for kind, metric_id in (("READ", "ycsb_read_latency_ns"), ("Intended-READ", "ycsb_read_intended_latency_ns")):
        for metric_end, column_end in (("", "_p50"), ("_p99", "_p99"), ("_p99_9", "_p99_9")):
            printed = measured["operations"][kind][f"latency_ns{column_end}"]
            assert values[metric_id + metric_end] == pytest.approx(printed)
    (verdict,) = run.transport().to_dicts()
    assert (verdict["verdict"], verdict["carried_by"]) == ("proved", "tcp over eth0"), verdict
