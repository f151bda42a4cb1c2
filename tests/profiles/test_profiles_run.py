"""The example of explained applications in a lab, shortened: from its plan to what the report says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from tests import forked, needs

from fabriscope import store
from fabriscope.analysis.profiles.explained import explained
from fabriscope.analysis.results import results_of
from fabriscope.model.profile import FINALIZED

EXAMPLE = needs.ROOT / "examples" / "explained.yaml"


@pytest.mark.timeout(900)  # engine, kernels and library may have to be compiled for the MPI of this machine
def test_a_plans_profiles_explain_its_applications(tmp_path: Path) -> None:
    needs.lab()
    needs.mpi_library("openmpi")
    plan, run = tmp_path / "plan.yaml", tmp_path / "run"
    example = yaml.safe_load(EXAMPLE.read_text())
    example |= {"launches": 2, "applications": {"npb": {"kernels": ["FT"], "class": "S", "profile": True}}}
    del example["benchmarks"]["sendrecv"]  # which FT does not call
    for sweep in example["benchmarks"].values():
        sweep["sizes"] = sweep["sizes"][:1] + sweep["sizes"][-2:]
    plan.write_text(yaml.safe_dump(example))
    done = forked.fabriscope(["run", plan, "-o", run], timeout_s=800)
    assert done.returncode == 0, done.stderr
    data = store.open_run(run).read()
    profiles = [one for record in data.journal for one in record.details.profiles.values()]
    assert len(profiles) == 4 and not any(record.details.profile_problems for record in data.journal)
    for profile in profiles:
        assert [(rank.host, rank.end) for rank in profile.ranks] == [("node1", FINALIZED), ("node2", FINALIZED)]
        transposes = [part for rank in profile.ranks for part in rank.parts if part.call == "MPI_Alltoall"]
        assert {(part.count, part.bytes, part.where, part.hosts) for part in transposes} == {
            (7, 7 * 64**3 * 16 // 2, "hosts", 2)
        }
    results = results_of(data)
    (found,) = explained(data, results.launch_values, results.rules.method)
    assert {found.left.fabric, found.right.fabric} == {"gige", "ethernet-100"}
    assert {"MPI_Alltoall", "MPI_Reduce"} <= {call.call for call in found.calls}
    shown = json.loads(forked.fabriscope(["show", "--json", run]).stdout)
    (sentence,) = shown["sections"]["profiles"]["text"][:1]
    assert sentence.startswith("NAS FT S") and "gige" in sentence and "ethernet-100" in sentence
    verified = forked.fabriscope(["verify", run], timeout_s=200)
    assert verified.returncode == 0, verified.stdout + verified.stderr
