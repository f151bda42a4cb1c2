"""The library that counts calls of MPI, in real programs: what it must see, and what it must survive."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests import forked, needs
from tests.profiles.program_of import OF_KIND, STACKS, compiled, counts, environment, launch, only, profiled, run, total

from fabriscope import engine_binary
from fabriscope.model.mpi import MpiStack
from fabriscope.model.profile import ABORTED, CUT, EXITED, FINALIZED
from fabriscope.store import profiles

pytestmark = [pytest.mark.skipif(not STACKS, reason=needs.NO_MPI), pytest.mark.timeout(600)]


@pytest.fixture(scope="module", params=sorted(OF_KIND))
def stack(request: pytest.FixtureRequest) -> MpiStack:
    return OF_KIND[request.param]


@pytest.fixture(scope="module")
def program(stack: MpiStack, tmp_path_factory: pytest.TempPathFactory) -> str:
    return compiled(stack, tmp_path_factory.mktemp(stack.kind))


def test_it_brings_no_library_into_programs(stack: MpiStack) -> None:
    library = str(engine_binary.build_profiler(stack))
    said = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, timeout=20, check=True).stdout
    needed = [line.split("[")[1].split("]")[0] for line in said.splitlines() if "NEEDED" in line]
    assert set(needed) <= {"libc.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "ld-linux-x86-64.so.2"}, needed
    env = environment(stack, LD_PRELOAD=library, LD_BIND_NOW="1", FABRISCOPE_PROFILE="/nowhere")
    done = subprocess.run(["/bin/echo", "no", "MPI"], capture_output=True, text=True, timeout=20, check=True, env=env)
    assert (done.stdout, done.stderr) == ("no MPI\n", "")


def test_what_goes_nowhere_in_place_and_derived_types_are_counted_by_their_bytes(
    stack: MpiStack, program: str, tmp_path: Path
) -> None:
    job, done = profiled(stack, [program, "edges"], tmp_path, ranks=3)
    assert (job.rank_count, len(job.ranks), job.missing) == (3, 3, 0)
    for rank in job.ranks:
        assert rank.end == FINALIZED
        nothing = only(rank, "MPI_Send")  # to MPI_PROC_NULL
        assert (nothing.count, nothing.bytes, nothing.where, nothing.peer) == (1, 0, "self", None)
        shifts = [part for part in rank.parts if part.call == "MPI_Sendrecv_shift"]
        assert sorted((part.size_class, part.count, part.bytes, part.peer) for part in shifts) == [
            (0, 1, 0, (rank.rank + 1) % 3), (6, 1, 20, (rank.rank + 1) % 3),
        ]  # fmt: skip
        assert {part.where for part in shifts} == {"host"}
        assert total(rank, "MPI_Allreduce") == total(rank, "MPI_Allgather") == (1, 4)
        assert total(rank, "MPI_Gather") == (50, 4 * 50 * 51 // 2)  # of types whose handles come again
        own = only(rank, "MPI_Bcast")
        assert (own.where, own.ranks, own.bytes) == ("self", 1, 4)
        assert 0 < rank.mpi_ns < rank.run_ns
    assert "3 ranks on 1 host," in done.stderr and "all ranks are on one host" in done.stderr


def test_peers_are_ranks_of_the_world_whatever_the_communicator(stack: MpiStack, program: str, tmp_path: Path) -> None:
    job, _ = profiled(stack, [program, "backwards"], tmp_path, ranks=3)
    first, _, last = job.ranks
    sent, received = only(last, "MPI_Send"), only(first, "MPI_Recv")
    assert (sent.peer, sent.bytes, received.peer, received.bytes) == (0, 100, 2, 100)
    for rank in job.ranks:  # 300 communicators, each of the rank itself
        alone = only(rank, "MPI_Barrier")
        assert (alone.count, alone.where, alone.ranks) == (300, "self", 1)
        assert total(rank, "MPI_Comm_free")[0] == 301


def test_what_is_not_blocking_counts_where_it_begins_and_its_wait_where_it_waits(
    stack: MpiStack, program: str, tmp_path: Path
) -> None:
    job, _ = profiled(stack, [program, "requests"], tmp_path, ranks=3)
    for rank in job.ranks:
        after, ahead = (rank.rank + 1) % 3, (rank.rank - 1) % 3
        sent, awaited = only(rank, "MPI_Isend"), only(rank, "MPI_Irecv")
        assert (sent.bytes, sent.peer, awaited.bytes, awaited.peer) == (1000, after, 1000, ahead)
        waits = [part for part in rank.parts if part.call == "MPI_Waitall"]
        assert {part.peer for part in waits} == {ahead} and sum(part.count for part in waits) == 4
        assert total(rank, "MPI_Startall") == (6, 30)  # three times a send of 10 bytes and a receive
        assert total(rank, "MPI_Iallreduce") == (1, 4)


def test_access_to_the_memory_of_others_counts_with_and_without_a_request(
    stack: MpiStack, program: str, tmp_path: Path
) -> None:
    job, _ = profiled(stack, [program, "windows"], tmp_path, ranks=3)
    for rank in job.ranks:
        calls = ("Put", "Get", "Accumulate", "Get_accumulate", "Rput", "Rget", "Raccumulate", "Rget_accumulate")
        assert [total(rank, f"MPI_{call}") for call in calls] == [(1, 4 * 10 * number) for number in range(1, 9)]
        assert {only(rank, f"MPI_{call}").peer for call in calls} == {None}
        assert [total(rank, f"MPI_Win_{call}")[0] for call in ("lock_all", "flush", "unlock_all")] == [1, 2, 1]
        assert [total(rank, call)[0] for call in ("MPI_Waitall", "MPI_Wait")] == [1, 1]


def test_an_all_to_all_of_neighbours_counts_a_block_for_each(stack: MpiStack, program: str, tmp_path: Path) -> None:
    job, _ = profiled(stack, [program, "neighbours"], tmp_path, ranks=3)
    for rank, of_line in zip(job.ranks, (1, 2, 1), strict=True):
        found = {part.size_class: part.bytes for part in rank.parts if part.call == "MPI_Neighbor_alltoall"}
        assert found == {7: of_line * 40, 8: 80, 9: 2 * 160}


def test_who_waits_is_told(stack: MpiStack, program: str, tmp_path: Path) -> None:
    job, done = profiled(stack, [program, "late"], tmp_path)
    received = only(job.ranks[0], "MPI_Recv")  # from MPI_ANY_SOURCE
    assert received.peer == 1 and received.ns > 50_000_000
    assert "Who waits for whom" in done.stderr


def test_a_program_says_what_of_it_counts(stack: MpiStack, program: str, tmp_path: Path) -> None:
    job, _ = profiled(stack, [program, "section"], tmp_path)
    for rank in job.ranks:
        assert total(rank, "MPI_Bcast")[0] == 2 and total(rank, "MPI_Barrier")[0] == 0
        assert 20_000_000 <= rank.run_ns < 1_500_000_000  # the part that does not count sleeps for 2 s


def test_threads_count_at_once(stack: MpiStack, program: str, tmp_path: Path) -> None:
    job, _ = profiled(stack, [program, "threads"], tmp_path, ranks=1)
    (rank,) = job.ranks
    if not rank.has_threads:
        pytest.skip(f"{stack.name} has no MPI_THREAD_MULTIPLE")
    assert total(rank, "MPI_Sendrecv") == (8000, 32000)


def test_a_fork_is_not_the_rank(stack: MpiStack, program: str, tmp_path: Path) -> None:
    job, _ = profiled(stack, [program, "forks"], tmp_path)
    assert [rank.end for rank in job.ranks] == [FINALIZED] * 2
    assert [total(rank, "MPI_Barrier")[0] for rank in job.ranks] == [1, 1]


def test_very_many_calls(stack: MpiStack, program: str, tmp_path: Path) -> None:
    count = 200_000
    job, _ = profiled(stack, [program, "many", str(count)], tmp_path, ranks=1)
    assert total(job.ranks[0], "MPI_Iprobe")[0] == count
    assert job.cost_share > 0  # how much depends on what else the machine does


def test_calls_that_fail_are_told_apart(stack: MpiStack, program: str, tmp_path: Path) -> None:
    job, done = profiled(stack, [program, "fails"], tmp_path)
    assert [rank.failed_calls for rank in job.ranks] == [1, 1] and "2 calls returned an error" in done.stderr
    assert all(total(rank, "MPI_Send")[0] == 0 for rank in job.ranks)


@pytest.mark.parametrize(
    ("way", "end", "says"),
    [
        ("abort", ABORTED, "called MPI_Abort"),
        ("killed", CUT, "were killed"),
        ("exits", EXITED, "without MPI_Finalize"),
        ("_exits", CUT, "were killed, or ended by _exit"),
    ],
)
def test_a_bad_end_keeps_what_was_counted_and_is_told(
    way: str, end: str, says: str, stack: MpiStack, program: str, tmp_path: Path
) -> None:
    job, done = profiled(stack, [program, way], tmp_path, status=None)
    assert done.returncode != 0
    # The other rank may be ended before its barrier is over.
    assert (end, 1) in [(rank.end, total(rank, "MPI_Barrier")[0]) for rank in job.ranks], done.stderr
    assert says in done.stderr


def test_the_status_is_the_programs(stack: MpiStack, program: str, tmp_path: Path) -> None:
    profiled(stack, [program, "status"], tmp_path, status=9)


def test_paths_with_spaces(stack: MpiStack, program: str, tmp_path: Path) -> None:
    spaced = tmp_path / "a folder: with everything"
    spaced.mkdir()
    job, _ = profiled(stack, [str(shutil.copy2(program, spaced / "my calls"))], spaced)
    assert job.program.endswith("my calls") and len(job.ranks) == 2


def test_a_folder_that_ranks_cannot_write_to_costs_the_profile_and_nothing_else(
    stack: MpiStack, program: str, tmp_path: Path
) -> None:
    library = str(engine_binary.build_profiler(stack))
    command = launch(stack, [program, "status"], 2)
    env = {**environment(stack), **command.env, "LD_PRELOAD": library, "FABRISCOPE_PROFILE": str(tmp_path / "nowhere")}
    done = subprocess.run(command.argv, capture_output=True, text=True, timeout=60, check=False, env=env)
    assert "there is no profile of this host's ranks: a file cannot be made in" in done.stderr
    assert done.returncode == 9 or "exit status: 9" in done.stdout + done.stderr


def test_without_mpirun_it_is_one_rank(stack: MpiStack, program: str, tmp_path: Path) -> None:
    kept = tmp_path / "kept.json"
    options = ["--mpi", stack.mpirun, "-o", str(kept), "--", program]
    done = forked.fabriscope(["profile", *options], environment(stack), timeout_s=100)
    assert done.returncode == 0, done.stderr
    (job,) = profiles.read(kept)
    assert (job.rank_count, len(job.ranks)) == (1, 1)


def test_another_mpi_library_is_refused_in_a_sentence(stack: MpiStack, program: str) -> None:
    others = [one for one in STACKS if one.kind.startswith("openmpi") is not stack.kind.startswith("openmpi")]
    if not others:
        needs.skip("this machine has MPI libraries of one kind", "install libmpich-dev and libopenmpi-dev")
    done = run(stack, [program], options=["--mpi", others[0].mpirun])
    assert done.returncode != 0
    assert "and the profile's library was built with" in done.stderr and "--mpi NAME" in done.stderr
    assert "no rank left a profile" in done.stderr


BINDINGS: Mapping[str, str] = {"mpif": "include 'mpif.h'", "mpi": "use mpi", "mpi_f08": "use mpi_f08"}


def wrapper_of(stack: MpiStack) -> str | None:
    """Return the Fortran compiler of an installation: `mpif90.openmpi` beside `mpicxx.openmpi`."""
    wrapper = Path(stack.mpicxx or "")
    path = wrapper.with_name("mpif90" + wrapper.name.removeprefix("mpicxx"))
    return str(path) if os.access(path, os.X_OK) else None


def of_fortran(binding: str) -> list[tuple[MpiStack, str]]:
    """Return the libraries that have a binding; the modules of Intel's are for its own compiler alone."""
    has_modules = [stack for stack in OF_KIND.values() if binding == "mpif" or stack.kind != "intelmpi"]
    return [(stack, wrapper) for stack in has_modules if (wrapper := wrapper_of(stack)) is not None]


@pytest.mark.parametrize("binding", BINDINGS)
def test_fortran_is_counted_once_by_each_of_its_bindings(binding: str, tmp_path: Path) -> None:
    needs.program("gfortran")
    found = of_fortran(binding)
    assert found, "no MPI library of this machine has a Fortran compiler"
    text = (Path(__file__).parent / "calls.f90").read_text()
    use, include = (BINDINGS[binding], "") if binding != "mpif" else ("", BINDINGS[binding])
    text = text.replace("  BINDING\n", f"  {use}\n").replace("implicit none\n", f"implicit none\n  {include}\n")
    source, output = tmp_path / "calls.f90", tmp_path / "calls"
    source.write_text(text)
    for stack, wrapper in found:
        argv = [wrapper, "-fallow-argument-mismatch", str(source), "-o", str(output)]
        made = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=False, env=environment(stack))
        assert made.returncode == 0, f"{stack.name}: {made.stderr}"
        job, done = profiled(stack, [str(output)], tmp_path, ranks=3)
        assert done.stdout.split() == ["3"]
        first, second, third = job.ranks
        assert total(first, "MPI_Send") == total(second, "MPI_Recv") == (1, 800), stack.name
        assert only(first, "MPI_Send").peer == 1 and only(second, "MPI_Recv").peer == 0
        assert [total(rank, "MPI_Allreduce") for rank in job.ranks] == [(1, 4)] * 3
        assert counts(job)[2] == {"MPI_Allreduce": 1}
        assert third.end == FINALIZED
