"""HDFS in a lab: the example of it, shortened, run from its plan to its report's numbers."""

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
MIB = 1 << 20
FILE_BYTES = 4 * MIB


@pytest.mark.timeout(400)
def test_testdfsio_writes_over_the_fabric_and_its_numbers_are_in_the_store(tmp_path: Path) -> None:
    needs.lab()
    needs.java_app("hadoop")
    example = yaml.safe_load(EXAMPLE.read_text())
    shortened = {
        **example,
        "hosts": "node[1-3]",
        "fabrics": {"gige": example["fabrics"]["gige"]},
        "layers": ["hdfs"],
        "benchmarks": {"hdfs_write": {"sizes": [FILE_BYTES]}},
        "services": {"hdfs": {**example["services"]["hdfs"], "replication": 2, "runs": 1}},
        "launches": 1,
    }
    plan, folder = tmp_path / "plan.yaml", tmp_path / "run"
    plan.write_text(yaml.safe_dump(shortened))
    argv = [sys.executable, "-m", "fabriscope", "run", str(plan), "-o", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 0, done.stderr
    (record,) = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    warm_up, measured = record["details"]["testdfsio"]
    assert (warm_up["run"], measured["run"]) == (0, 1)
    assert warm_up["total_mib"] == measured["total_mib"] == 2 * FILE_BYTES / MIB
    run = fabriscope.load(folder)
    values = {row["metric_id"]: row["value"] for row in run.estimates().to_dicts()}
    assert values["dfsio_throughput_bytes_per_s"] == pytest.approx(measured["throughput_mib_per_s"] * MIB)
    assert values["dfsio_average_io_rate_bytes_per_s"] == pytest.approx(measured["average_io_rate_mib_per_s"] * MIB)
    assert values["hdfs_bandwidth_bytes_per_s"] == pytest.approx(2 * FILE_BYTES * 1e9 / measured["span_ns"])
    (verdict,) = run.transport().to_dicts()
    assert (verdict["verdict"], verdict["carried_by"]) == ("proved", "tcp over eth0"), verdict
