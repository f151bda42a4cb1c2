"""Applications in a lab: the example of them without HPL, shortened, run from its plan to its report's numbers."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import forked, needs

import fabriscope

EXAMPLE = needs.ROOT / "examples" / "applications.yaml"


def started(folder: Path, **changes: Any) -> tuple[subprocess.CompletedProcess[str], Path]:
    """Run the example with changes; return how that ended, and the run's folder."""
    plan, run = folder / "plan.yaml", folder / "run"
    plan.write_text(yaml.safe_dump({**yaml.safe_load(EXAMPLE.read_text()), "launches": 1, **changes}))
    return forked.fabriscope(["run", plan, "-o", run], timeout_s=800), run


@pytest.mark.timeout(900)  # the kernels may have to be compiled for the MPI of this machine
def test_kernels_run_over_the_fabric_and_their_numbers_are_in_the_store(tmp_path: Path) -> None:
    needs.lab()
    needs.mpi_library("openmpi")
    fabrics = {"gige": {"lab": "gige"}}
    done, run = started(tmp_path, fabrics=fabrics, ranks=2, applications={"npb": {"kernels": ["IS", "MG"]}})
    assert done.returncode == 0, done.stderr
    (record,) = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    assert {result["status"] for result in record["results"].values()} == {"ok"}
    rows = fabriscope.load(run).estimates().to_dicts()
    values = {(row["benchmark"], row["metric_id"]): row["value"] for row in rows}
    for name, operations in (("nas_is_s", 10 * 65536), ("nas_mg_s", 7_602_176)):
        rate, time_ns = values[name, "nas_rate_op_per_s"], values[name, "time_to_solution_ns"]
        assert rate * time_ns / 1e9 == pytest.approx(operations, rel=0.01)
        assert 0 < values[name, "computing_percent"] < 100
    shown = forked.fabriscope(["show", run]).stdout
    assert "applications, between hosts" in shown and "NAS IS S" in shown


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"applications": {"npb": {"kernels": "FT", "class": "D"}}}, "NAS FT D on 2 ranks needs"),
        (
            {"applications": {"npb": {"kernels": "IS", "reference": "/nowhere"}}},
            "there is no program is.S.x in /nowhere",
        ),
        (
            {"applications": {"hpl": {"n": 100, "program": "/nowhere/xhpl"}}},
            "/nowhere/xhpl is no program on this machine",
        ),
        ({"applications": {"hpl": {"n": 100, "program": "/bin/true", "threads": 4096}}}, "would share"),
    ],
)
def test_what_cannot_run_is_said_before_it_starts(changes: dict[str, Any], says: str, tmp_path: Path) -> None:
    needs.lab()
    needs.mpi_library("openmpi")
    done, run = started(tmp_path, ranks=2, **changes)
    assert done.returncode != 0
    assert says in done.stderr and "Traceback" not in done.stderr, done.stderr
    assert not (run / "journal.jsonl").exists()
