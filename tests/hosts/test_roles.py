"""Who of a job is a rank, who starts ranks, and whose a connection is that nobody was seen to hold."""

from __future__ import annotations

import pytest

from fabriscope.hosts.counters import parsing
from fabriscope.hosts.counters._roles import roles
from fabriscope.model.counters import BESIDE, JOB, OTHER, RANK, UNHELD, UNSEEN
from fabriscope.model.foreign import Foreign


def told(program: str, rank: int | None = None, *, marked: bool = True, parent: int = 0) -> dict[str, object]:
    return {"program": program, "rank": rank, "step_rank": None, "is_marked": marked, "parent": parent}


def test_a_launcher_is_no_rank() -> None:
    job = {1: told("mpiexec.hydra"), 2: told("hydra_pmi_proxy", 0, parent=1), 3: told("app", 1, parent=2)}
    assert roles(job) == {1: (JOB, None), 2: (JOB, None), 3: (RANK, 1)}
    assert roles({1: told("srun")}) == {1: (JOB, None)}


def test_a_launchers_child_that_is_still_called_like_it_holds_its_connections_and_is_no_program() -> None:
    job = {1: told("bash"), 2: told("prterun", parent=1), 3: told("prterun", parent=2), 4: told("app", parent=2)}
    assert roles(job) == {1: (BESIDE, None), 2: (JOB, None), 3: (JOB, None), 4: (BESIDE, None)}
    forked = {2: told("prted"), 3: told("prted", parent=2)}
    assert roles(forked) == {2: (JOB, None), 3: (JOB, None)}
    assert roles({1: told("mpiexec.hydra"), 2: told("hydra_pmi_proxy", parent=1)})[2] == (JOB, None)
    assert roles({1: told("mpirun"), 2: told("orted", 0, parent=1)})[2] == (RANK, 0)


def test_beside_a_launcher_whose_ranks_have_no_numbers_programs_are_no_ranks() -> None:
    assert roles({1: told("orted"), 2: told("app", parent=1)}) == {1: (JOB, None), 2: (BESIDE, None)}


def test_a_program_that_is_called_like_a_launcher_and_starts_nothing_is_none() -> None:
    assert roles({1: told("bash"), 2: told("mpirun", parent=1)})[2] == (RANK, None)
    mpi = {1: told("bash"), 2: told("mpirun", parent=1), 4: told("app", 0, parent=2), 5: told("orted", parent=1)}
    assert roles(mpi)[5] == (BESIDE, None)


def test_a_shell_is_a_program_and_its_connections_are_the_jobs() -> None:
    assert roles({1: told("bash")}) == {1: (RANK, None)}
    assert roles({1: told("sh"), 2: told("iperf3", parent=1)}) == {1: (BESIDE, None), 2: (RANK, None)}


def test_what_a_script_starts_beside_its_ranks_is_no_rank_and_no_launcher() -> None:
    mpi = {1: told("bash"), 2: told("mpirun", parent=1), 3: told("ssh", parent=2), 4: told("app", 0, parent=2)}
    launched = {1: (BESIDE, None), 2: (JOB, None), 3: (JOB, None), 4: (RANK, 0)}
    assert roles(mpi) == launched
    copy = {5: told("scp", parent=1), 6: told("ssh", parent=5), 7: told("curl", parent=1)}
    assert roles(mpi | copy) == {**launched, 5: (BESIDE, None), 6: (BESIDE, None), 7: (BESIDE, None)}
    assert roles({1: told("bash"), 7: told("curl", parent=1)})[7] == (RANK, None)


def test_beside_a_marked_job_an_unmarked_one_is_somebody_elses() -> None:
    job = {1: told("orterun"), 2: told("app", 0, marked=False, parent=1)}
    strangers = {7: told("mpirun", marked=False), 8: told("app", 0, marked=False, parent=7)}
    assert roles(job | strangers) == {1: (JOB, None), 2: (RANK, 0), 7: (OTHER, None), 8: (OTHER, None)}
    assert roles({1: told("iperf3")} | strangers)[1] == (RANK, None)
    assert roles(strangers) == {7: (JOB, None), 8: (RANK, 0)}


@pytest.mark.parametrize(
    ("programs", "owner", "size_bytes", "role"),
    [
        ([], 0, 2_700, UNSEEN),
        ([], 0, 1 << 20, RANK),
        (["iperf3"], 0, 2_700, UNHELD),
        (["mpiexec.hydra", "hydra_pmi_proxy"], 0, 2_700, UNSEEN),
        (["prted"], 100, 2_700, UNSEEN),
        (["prted"], 100, 1 << 20, RANK),
        (["iperf3"], 100, 2_700, RANK),
    ],
)
def test_little_that_a_launcher_may_have_said_is_not_a_ranks(
    programs: list[str], owner: int, size_bytes: int, role: str
) -> None:
    rows = {100 + place: told(name, parent=99 + place) for place, name in enumerate(programs)}
    processes = [
        {"pid": pid, "shared": {}, "devices": [], "listens": [], "datagrams": [], **one} for pid, one in rows.items()
    ]
    connection = [7, "10.0.0.1", 4000, "10.0.0.2", 5000, size_bytes, 100, 20, 21, 0, owner, 1]
    line = {"at_ns": 1, "unix_ns": 1, "cost_ns": 1, "connections": [connection], "processes": processes}
    line |= {name: {} for name in ("drivers", "interfaces", "rdma", "protocols")}
    (reading,) = parsing._readings([Foreign(line, "line 1")])
    assert [one.role for one in reading.connections] == [role]


def test_ssh_that_started_nothing_is_the_program_itself() -> None:
    scp = {1: told("scp"), 2: {**told("ssh"), "parent": 1}}
    assert roles({pid: {**one, "is_marked": True} for pid, one in scp.items()})[2] == (RANK, None)
    wrapper = {1: {**told("ssh"), "is_marked": True}, 2: {**told("app"), "parent": 1, "is_marked": True}}
    assert roles(wrapper) == {1: (JOB, None), 2: (RANK, None)}
