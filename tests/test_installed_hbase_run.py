"""HBase in a lab from an HBase of the site's own: a folder that is laid out as HBASE_HOME is."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from tests import needs

from fabriscope.hosts import java_apps

_OF_YCSB = ("core-", "HdrHistogram-", "jackson-core-asl", "jackson-mapper-asl")
_FACING_CLIENTS = ("slf4j", "reload4j", "htrace", "commons-logging", "audience-annotations")


def lay_out(home: Path) -> None:
    """Put the jars of the cache where a distribution has them, without those of YCSB."""
    for jar in java_apps.find("hbase").jars.iterdir():
        if not jar.name.startswith(_OF_YCSB):
            part = "lib/client-facing-thirdparty" if jar.name.startswith(_FACING_CLIENTS) else "lib"
            (home / part).mkdir(parents=True, exist_ok=True)
            shutil.copy(jar, home / part)


@pytest.mark.timeout(600)
def test_its_daemons_and_its_client_are_used(tmp_path: Path) -> None:
    needs.lab()
    needs.java_app("hbase")
    home = tmp_path / "hbase"
    lay_out(home)
    plan = {
        "name": "x",
        "hosts": "node[1-2]",
        "fabrics": {"gige": {"lab": "gige"}},
        "layers": ["hbase"],
        "benchmarks": {"hbase_get": {"sizes": [100]}},
        "services": {
            "hbase": {"home": str(home), "replication": 1, "records": 20, "operations": 20, "threads": 1, "runs": 1}
        },
        "launches": 1,
        "floor": False,
        "case_timeout": "400s",
    }
    path, folder = tmp_path / "plan.yaml", tmp_path / "run"
    path.write_text(yaml.safe_dump(plan))
    argv = [sys.executable, "-m", "fabriscope", "run", str(path), "-o", str(folder)]
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True)
    used: set[str] = set()
    while process.poll() is None:
        used |= _classes_told(str(home))
        time.sleep(0.1)
    assert process.returncode == 0, process.communicate()
    assert used == {"HdfsNode", "HBaseNode", "YcsbRuns"}
    (record,) = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    assert record["details"]["hbase_version"] == java_apps.known()["hbase"]
    assert [one["run"] for one in record["details"]["ycsb"]] == [0, 1]


def _classes_told(home: str) -> set[str]:
    """Return the classes of ours that run with jars of a home and not with those of HBase in the cache."""
    cached, found = str(java_apps.cache_folder()), set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_text().split("\0")
        except OSError:
            continue
        if "-cp" in words[1:] and words[0].endswith("java"):
            place = words.index("-cp")
            jars = words[place + 1].split(":")
            if f"{home}/lib/*" in jars and not any(one.startswith(cached) and one.endswith("/*") for one in jars):
                found.add(words[place + 2])
    return found
