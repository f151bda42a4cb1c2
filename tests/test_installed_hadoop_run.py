"""HDFS in a lab from a Hadoop of the site's own: a folder that is laid out as HADOOP_HOME is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests import needs

from fabriscope.hosts import java_apps

MIB = 1 << 20


def lay_out(home: Path) -> None:
    """Put the jars of the cache where a distribution has them."""
    share = home / "share" / "hadoop"
    for jar in java_apps.find("hadoop").jars.iterdir():
        part = "mapreduce" if "jobclient" in jar.name else "common" if jar.name.startswith("hadoop") else "common/lib"
        (share / part).mkdir(parents=True, exist_ok=True)
        shutil.copy(jar, share / part)


@pytest.mark.timeout(400)
def test_its_jars_are_used_and_not_those_of_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs.lab()
    needs.java_app("hadoop")
    lay_out(tmp_path / "hadoop")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))  # in which nothing was added
    plan = {
        "name": "x",
        "hosts": "node[1-2]",
        "fabrics": {"gige": {"lab": "gige"}},
        "layers": ["hdfs"],
        "benchmarks": {"hdfs_write": {"sizes": [4 * MIB]}},
        "services": {
            "hdfs": {"home": str(tmp_path / "hadoop"), "replication": 1, "runs": 1, "heap": "96MiB"}
        },
        "launches": 1,
        "floor": False,
    }  # fmt: skip
    path, folder = tmp_path / "plan.yaml", tmp_path / "run"
    path.write_text(yaml.safe_dump(plan))
    argv = [sys.executable, "-m", "fabriscope", "run", str(path), "-o", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=380, check=False)
    assert done.returncode == 0, done.stderr
    (record,) = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert record["details"]["hadoop_version"] == java_apps.known()["hadoop"]
    assert [one["run"] for one in record["details"]["testdfsio"]] == [0, 1]
