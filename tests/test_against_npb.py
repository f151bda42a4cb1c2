"""The comparison with the reference's NAS kernels, over a launcher and programs that are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks.against_npb import Row, rate_of

from fabriscope.model.errors import LaunchError

TOLD = """ EP Benchmark Completed.
 Class           =                        W
 Time in seconds =                     0.05
 Total processes =                        {ranks}
 Mop/s total     =                   200.00
 Mop/s/process   =                   {each}
 Operation type  = Random numbers generated
 Verification    =               {verification}
 Version         =                    3.4.1
"""


def launcher(folder: Path, said: str) -> str:
    program = folder / "mpirun"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{said}END\n")
    program.chmod(0o755)
    return str(program)


def test_a_verified_rate_of_all_ranks_counts(tmp_path: Path) -> None:
    said = TOLD.format(ranks=2, each="100.00", verification="SUCCESSFUL")
    assert rate_of(launcher(tmp_path, said), 2, ["ep.W.x"]) == 200e6


@pytest.mark.parametrize(
    "said",
    [
        pytest.param(TOLD.format(ranks=2, each="100.00", verification="UNSUCCESSFUL"), id="wrong"),
        pytest.param(TOLD.format(ranks=1, each="200.00", verification="SUCCESSFUL") * 2, id="ranks that are alone"),
        pytest.param("no such program\n", id="nothing"),
    ],
)
def test_what_is_no_result_of_all_ranks_ends_it_with_the_command(tmp_path: Path, said: str) -> None:
    with pytest.raises(LaunchError, match="no one verified result of 2 ranks") as raised:
        rate_of(launcher(tmp_path, said), 2, ["ep.W.x"])
    assert "ep.W.x" in str(raised.value)


def test_a_promise_is_broken_only_where_the_interval_says_so() -> None:
    slow = Row("ep", "W", 2, rates={"ours": [90e6, 91e6, 89e6], "reference": [100e6, 101e6, 99e6]})
    unsure = Row("ep", "W", 2, rates={"ours": [90e6, 120e6, 89e6], "reference": [100e6, 101e6, 99e6]})
    assert not slow.is_kept()
    assert slow.text().startswith("| EP | W | 90 | 100 | 0.90 (")
    assert unsure.is_kept()
