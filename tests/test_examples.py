"""Every example runs, shortened, and gives a report; what needs a program that is not here says so in its reasons."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests import forked, needs

from fabriscope.cli.report import COMMAND as REPORT

EXAMPLES = Path(__file__).parents[1] / "examples"
# The hosts of these are in tests/ssh, those of a batch job in tests/slurm; HDFS, HBase, applications and tunings are in
# test_hdfs_run.py, test_hbase_run.py, test_applications_run.py, profiles/test_profiles_run.py and test_tune_run.py.
ELSEWHERE = ("ssh.yaml", "slurm.yaml", "bigdata.yaml", "hbase.yaml", "applications.yaml", "explained.yaml", "tune.yaml")
AS_A_WHOLE = {"demo.yaml": "make demo", "soft-roce.yaml": "make demo-softroce"}
"""What CI runs and reports as it is, and what with; a measurement that fails there ends it, too."""
OF_MPI = ("osu", "imb")
RUNNABLE = [path for path in sorted(EXAMPLES.glob("*.yaml")) if path.name not in (*ELSEWHERE, *AS_A_WHOLE)]


def _shortened(path: Path) -> dict[str, Any]:
    """Return the example with one launch, two sizes and little time; without MPI, unless it is about nothing else."""
    plan: dict[str, Any] = yaml.safe_load(path.read_text())
    plan |= {"launches": 1, "budget": "500ms"}
    for settings in plan["benchmarks"].values():
        match settings:
            case {"sizes": {"from": first, "to": last}} | {"sizes": [first, _, *_, last]}:
                settings["sizes"] = [first, last]
            case {"sizes": str(span)} if ".." in span:
                settings["sizes"] = span.split("..")
    layers = [layer for layer in plan.get("layers", ["tcp"]) if layer != "mpi"]
    if layers:
        plan["layers"] = layers
        plan.pop("mpi", None)
        plan["instruments"] = [name for name in plan.get("instruments", ["engine"]) if name not in OF_MPI]
        plan["only"] = [word for word in plan.get("only", []) if word != "mpi"]
        plan = {key: value for key, value in plan.items() if key != "only" or value}
    return plan


def test_ci_runs_as_a_whole_what_is_not_run_here() -> None:
    ci, makefile = (path.read_text() for path in (needs.ROOT / ".ci" / "run", needs.ROOT / "Makefile"))
    recipes = makefile + (needs.ROOT / "scripts" / "demo-softroce").read_text()
    for name, command in AS_A_WHOLE.items():
        assert re.search(rf"^{command}( >.*&)?$", ci, re.MULTILINE), f".ci/run has no line for {command}"
        assert f"run examples/{name} " in recipes


@pytest.mark.timeout(1200)  # an engine may have to be compiled for the MPI of this machine
@pytest.mark.parametrize("path", RUNNABLE, ids=lambda path: path.name)
def test_an_example_runs(path: Path, tmp_path: Path) -> None:
    if "lab" in path.read_text():
        needs.lab()
    plan, run = tmp_path / "plan.yaml", tmp_path / "run"
    shortened = _shortened(path)
    if shortened.get("guests"):
        needs.soft_roce()
    for name in shortened.get("mpi", ()):
        needs.mpi_library(name)
    plan.write_text(yaml.safe_dump(shortened))
    done = forked.fabriscope(["run", plan, "-o", run], timeout_s=1000)
    assert (run / "journal.jsonl").exists(), done.stderr
    records = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    reasons = {one["reason"] for record in records for one in record["results"].values() if one["status"] != "ok"}
    others = set(shortened.get("instruments", ())) - {"engine"}
    ours = [record for record in records if record["entry_id"].split(".")[-1] not in others]
    assert ours, done.stderr
    assert all(record["status"] == "ok" for record in ours), reasons
    assert all(reasons), "a measurement failed without a reason"
    failed = any(one["status"] == "failed" for record in records for one in record["results"].values())
    assert done.returncode == (10 if failed else 0), done.stderr
    reported = CliRunner().invoke(REPORT, [str(run)])
    assert reported.exit_code == 0, reported.output
