"""What `fabriscope verify` makes of applications."""

from __future__ import annotations

from pathlib import Path

from tests import needs
from tests.store.test_run_folder import record

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.measurement import Launch
from fabriscope.registry import discover
from fabriscope.running.verify import verify


def test_what_a_program_had_said_that_ran_too_long_counts_for_nobody(tmp_path: Path) -> None:
    """Two NAS kernels, of which one was stopped behind its result, and ended at its time limit."""
    entry = Entry("mpi", "gige", "inter", ("n0", "n1"), mpi="m", instrument="npb")
    told = (("repeats", "1"), ("time_limit_s", "10"))
    cases = tuple(Case(entry, name, 0, parameters=told) for name in ("nas_ft_s", "nas_mg_s"))
    launch = Launch(1, 1, entry, cases, seed=7, budget_ns=10**9)
    text = (needs.ROOT / "tests" / "readers" / "data" / "npb" / "ours.txt").read_text().splitlines(keepends=True)
    outputs = ("".join(text[:2]), "".join(text[3:5]))
    outcomes = [
        Outcome(Command(("mpirun", name), "n0"), status, output.encode(), b"", 1, 2 * 10**10, timed_out=status is None)
        for name, output, status in zip(("ft", "mg"), outputs, (None, 0), strict=True)
    ]
    adapter = discover("adapters", "ADAPTER").get("npb")
    parsed = adapter.parse(launch, outcomes)
    assert [one.status for one in parsed.results] == ["failed", "ok"]
    assert parsed.blocks
    run = store.create(tmp_path / "run", {**store.describe(cases, [launch], ()), "name": "x", "seed": 7}, "name: x\n")
    results = {one.case_id: {"status": one.status, "reason": one.reason} for one in parsed.results}
    about = {**record(1), "entry_id": entry.entry_id, "results": results}
    run.append(about, parsed.blocks, outcomes)
    account = verify(tmp_path / "run")
    assert account.checked and not account.findings
