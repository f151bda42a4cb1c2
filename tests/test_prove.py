"""`fabriscope prove` as a person uses it, on hosts of real labs."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import forked, needs
from tests.two_ranks import RANK, UDP_RANK

from fabriscope import __version__, lab
from fabriscope.analysis.proof import words as proof_words
from fabriscope.lab import Lab
from fabriscope.model.counters import PROVED, Books
from fabriscope.model.lab import LabSpec, SwitchSpec
from fabriscope.model.mpi import MpiStack
from fabriscope.model.proof import Proof

TIMEOUT_S = 120.0
PAYLOAD_BYTES = 20_000_000
# argv: remote shell, host, address, count, RANK. Starts rank 1 over there, and is rank 0's parent.
JOB = """
import os, subprocess, sys
shell, host, address, count, script = sys.argv[1:]
import shlex
there = [sys.executable, "-I", "-c", script, "1", address, count]
words = [shell, host, "PMI_RANK=1 " + shlex.join(there)] if shell else there
other = subprocess.Popen(words, env={**os.environ, "PMI_RANK": "1"})
mine = subprocess.run([sys.executable, "-I", "-c", script, "0", address, count], env={**os.environ, "PMI_RANK": "0"})
print("the job's own word")
sys.exit(mine.returncode or other.wait())
"""
# argv: whom it sends 0.3 MB of datagrams a second, until its input ends.
UDP_SENDER = """
import select, socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
print("sending", flush=True)
while not select.select([sys.stdin], [], [], 0.03)[0]:
    try:
        sender.sendto(bytes(9000), (sys.argv[1], 7003))
    except ConnectionRefusedError:
        pass
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Lab]:
    """Two hosts on two fabrics, standing as `fabriscope lab up` leaves them."""
    spec = LabSpec(("node1", "node2"), {"first": SwitchSpec(), "second": SwitchSpec()})
    needs.lab()
    built = lab.up(spec, name=f"prove-{secrets.token_hex(4)}", persistent=True)
    yield built
    built.down()


def prove(*words: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope(["prove", "--idle", "200ms", *words], {**os.environ, **(env or {})}, TIMEOUT_S)


def job(place: Lab, host: str, interface: str, count: int = PAYLOAD_BYTES) -> list[str]:
    """Return the words of a job of two ranks, of which the second is on a host and listens on an interface."""
    shell = str(place.remote_shell) if host != "node1" else ""
    address = place.host(host).addresses[interface] if host != "node1" else "127.0.0.1"
    return ["--", sys.executable, "-I", "-c", JOB, shell, host, address, str(count), RANK]


def test_what_was_expected_is_proved(place: Lab, tmp_path: Path) -> None:
    told = tmp_path / "proof.json"
    words = ("--expect", "eth0", "--fail-below", "99.9%", "--json", told)
    done = prove("--lab", place.name, *words, *job(place, "node2", "eth0"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == "the job's own word\n"
    assert "proved (eth0): " in done.stderr
    found = json.loads(told.read_text())
    assert (found["format"], found["version"], found["fabriscope_version"]) == ("fabriscope-proof", 1, __version__)
    assert found["verdict"] == "proved"
    assert found["share"] > 0.999
    assert found["ownerless"] == []
    assert all(found["watched_ns"][host] >= found["elapsed_ns"] for host in ("node1", "node2"))
    carried = {one["host"]: one for one in found["carriers"] if one["name"] == "eth0"}
    for host, name in (("node1", "sent_bytes"), ("node2", "received_bytes")):
        assert PAYLOAD_BYTES <= carried[host][name] < PAYLOAD_BYTES + 10_000
    assert found["closure_error"] < 0.02


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--fail-below", "99%"), "give --expect too"),
        (("--expect", "eth0", "--fail-below", "most"), "'most' is not a share such as 0.1% or 0.001"),
        (("--expect", "eth0", "--fail-below", "101%"), "'101%' is not a share such as 0.1% or 0.001"),
    ],
)
def test_a_wrong_share_is_told_before_the_program_runs(words: tuple[str, ...], message: str, tmp_path: Path) -> None:
    done = prove(*words, "--", "touch", tmp_path / "ran")
    assert done.returncode == 2
    assert message in done.stderr
    assert not (tmp_path / "ran").exists()


def test_a_share_that_is_less_than_wanted_is_told() -> None:
    books = Books(PROVED, "", found_share=0.98612)
    assert proof_words.too_little(Proof("eth0", books), 0.98) == ""
    assert proof_words.too_little(Proof("eth0", books), 0.99) == "98.612 % was on eth0, less than 99 %"
    assert proof_words.too_little(Proof("shm", Books(PROVED, "")), 0.5) == "of shm no share can be counted"


@pytest.mark.parametrize("expected", ["second", "eth1", "10.11.0.0/16"])
def test_the_wrong_one_of_two_interfaces_is_refuted(place: Lab, expected: str) -> None:
    assert place.host("node1").addresses["eth1"].startswith("10.11.")
    done = prove("--lab", place.name, "--expect", expected, *job(place, "node2", "eth0"))
    assert done.returncode == 3, done.stderr
    assert f"refuted ({expected}): tcp over eth0 carried " in done.stderr


def test_what_the_job_sends_by_udp_beside_its_connections_is_not_passed_over(place: Lab) -> None:
    """The connections alone were all over eth0; three times their bytes went by datagrams over eth1."""
    shell, host = str(place.remote_shell), place.host("node2")
    addresses = [host.addresses[name] for name in ("eth0", "eth1")]
    words = ["--", sys.executable, "-I", "-c", JOB, shell, "node2", ",".join(addresses), "2000000", UDP_RANK]
    for expected, status in (("eth0", 3), ("eth1", 3), ("udp:eth1", 3), ("", 0)):
        done = prove("--lab", place.name, *(["--expect", expected] if expected else []), *words)
        assert done.returncode == status, done.stderr
        assert "udp over eth1" in done.stderr.splitlines()[-1]


def test_somebody_elses_udp_is_not_the_jobs(place: Lab) -> None:
    address = place.host("node2").addresses["eth0"]
    argv = [*place.host("node1").access, sys.executable, "-I", "-c", UDP_SENDER, address]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sender:
        assert sender.stdout is not None
        assert sender.stdout.readline() == "sending\n"
        done = prove("--lab", place.name, "--expect", "eth0", *job(place, "node2", "eth0"))
        assert sender.poll() is None
        sender.communicate()
    assert done.returncode == 0, done.stderr
    assert "proved (eth0)" in done.stderr


def test_without_an_expectation_it_tells_what_carried_how_much(place: Lab) -> None:
    done = prove("--lab", place.name, *job(place, "node2", "eth1"))
    assert done.returncode == 0, done.stderr
    rows = [line.split() for line in done.stderr.splitlines() if line.startswith("node")]
    assert [row[:4] for row in rows] == [["node1", "tcp", "over", "eth1"], ["node2", "tcp", "over", "eth1"]]
    assert rows[0][4:6] == ["20.0", "MB"]


def test_a_job_that_sends_nothing_is_undecided(place: Lab) -> None:
    done = prove("--lab", place.name, "--expect", "eth0", "--", "sleep", "0.2")
    assert done.returncode == 4, done.stderr
    assert "undecided (eth0): " in done.stderr


def test_what_was_kept_is_judged_again(place: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    done = prove("--lab", place.name, "--expect", "eth0", "-o", folder, *job(place, "node2", "eth0"))
    assert done.returncode == 0, done.stderr
    names = {"proof.html", "books.csv", "traffic.png", "traffic.svg", "proof.json"}
    assert names <= {path.name for path in folder.iterdir()}
    page = (folder / "proof.html").read_text()
    assert "tcp over eth0" in page and "<svg" in page
    again = prove("--read", folder, "--json", "-")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == json.loads((folder / "proof.json").read_text())
    assert prove("--read", folder, "--expect", "eth1").returncode == 3
    assert prove("--read", folder, "--fail-below", "99%").returncode == 0
    second = prove("--lab", place.name, "-o", folder, "--", "true")
    assert second.returncode == 8
    assert "there is something already" in second.stderr


def test_a_program_that_fails_is_told_of(place: Lab) -> None:
    failing = ["--", "sh", "-c", shlex.join(job(place, "node2", "eth0")[1:]) + "; exit 9"]
    done = prove("--lab", place.name, *failing)
    assert done.returncode == 1, done.stderr
    assert "the program ended with status 9" in done.stderr
    assert prove("--lab", place.name, "--pass-status", *failing).returncode == 9


def test_a_programs_own_3_is_not_taken_for_a_refutation(place: Lab) -> None:
    silent = prove("--lab", place.name, "--idle", "0s", "--pass-status", "--", "true")
    assert (silent.returncode, "undecided" in silent.stderr) == (104, True)
    own = prove("--lab", place.name, "--idle", "0s", "--pass-status", "--", "sh", "-c", "exit 3")
    assert own.returncode == 3


def test_a_signal_ends_the_program_and_the_verdict_is_given(place: Lab) -> None:
    script = shlex.join(job(place, "node2", "eth0")[1:]) + "; echo going on; exec sleep 1000"
    argv = [sys.executable, "-m", "fabriscope", "prove", "--idle", "0s", "--lab", place.name, "--expect", "eth0"]
    with subprocess.Popen(
        [*argv, "--", "sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(2)] == ["the job's own word\n", "going on\n"]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=TIMEOUT_S)
    assert process.returncode == 0, err
    assert "the program was interrupted after " in err
    assert "proved (eth0)" in err


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        ("", 2, "give the command to run behind --, or --read FOLDER"),
        ("--lab no-such-lab -- true", 5, "there is no lab 'no-such-lab'"),
        ("--hosts node[1- -- true", 2, "'node[1-' is no host list"),
        ("-- /no/such/program", 7, "there is no program /no/such/program"),
        ("--expect eth77 -- true", 5, "there is no interface, RDMA device, network or transport 'eth77'"),
        ("--hosts no-such-host.invalid -- true", 5, "host no-such-host.invalid: "),
        ("--interval soon -- true", 2, "--interval: 'soon'"),
        ("--interval 1ms -- true", 2, "--interval: 1ms is not from 0.1 to 3600 s"),
        ("--json /no/such/folder/x -- marks", 8, "/no/such/folder/x: it cannot be a file"),
        ("--json /proc -- marks", 8, "/proc: it cannot be a file"),
        ("--json /dev/full -- true", 8, "/dev/full: it cannot be written: No space left on device"),
        ("-o /proc/x -- marks", 8, "/proc/x: it cannot be made: "),
        ("-- /etc/passwd", 7, "/etc/passwd is no program: it may not be executed -- chmod +x"),
        ("--read /no/such/folder", 8, "/no/such/folder: there is no proof"),
        ("--read /tmp --lab x", 2, "--read judges what was kept"),
        ("--lab x --ssh y -- true", 2, "--ssh is for real hosts"),
        ("-- mpirun -hostfile /no/such/file true", 5, "/no/such/file: the host file cannot be read"),
    ],
)
def test_bad_input_is_refused_in_one_sentence(words: str, status: int, message: str, tmp_path: Path) -> None:
    launcher = tmp_path / "mpirun"
    launcher.write_text("#!/bin/sh\n")
    launcher.chmod(0o755)
    marker = tmp_path / "marks"
    marker.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    marker.chmod(0o755)
    done = prove(*words.split(), env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == status, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "ran").exists()


def test_the_folder_is_kept_where_the_json_fails(place: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    done = prove("--lab", place.name, "--json", "/dev/full", "-o", folder, "--", "true")
    assert done.returncode == 8, done.stderr
    assert "Traceback" not in done.stderr
    assert prove("--read", folder, "--json", folder / "again.json").returncode == 4
    assert json.loads((folder / "again.json").read_text())["verdict"] == "undecided"


def test_a_host_that_a_lab_lacks_is_named(place: Lab) -> None:
    done = prove("--lab", place.name, "--hosts", "node9", "--", "true")
    assert done.returncode == 5
    assert "the lab has no host 'node9'" in done.stderr


STACKS = sorted(needs.stacks(), key=lambda one: one.device == "ch4:ucx")
"""Debian's MPICH, the one on UCX, now and then hangs after its results: others first."""
SEND = """
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int rank, count = 1 << 20;
  char *data = calloc(1, count);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int round = 0; round < 8; round++) {
    usleep(200000);
    if (rank == 0) MPI_Send(data, count, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank == 1) MPI_Recv(data, count, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
"""


def compiled(stack: MpiStack, folder: Path) -> Path:
    source, program = folder / "send.cc", folder / "send"
    source.write_text(SEND.replace("calloc", "(char *)calloc"))
    words = [str(stack.mpicxx), str(source), "-o", str(program)]
    subprocess.run(words, check=True, capture_output=True, timeout=TIMEOUT_S, env={**os.environ, **stack.env})
    return program


def mpi_job(stack: MpiStack, hosts: str, program: Path, *extra: str) -> list[str]:
    is_open = stack.kind.startswith("openmpi")
    where = ["-H", hosts, "--bind-to", "none", *(["--map-by", "node"] if "," in hosts else ["--oversubscribe"])]
    words = where if is_open else ["-hosts", hosts, *(["-ppn", "1"] if "," in hosts else [])]
    return ["--", stack.mpirun, "-n", "2", *words, *extra, str(program)]


@pytest.fixture(scope="module")
def stack_and_program(tmp_path_factory: pytest.TempPathFactory) -> tuple[MpiStack, Path]:
    stack = next((one for one in STACKS if one.mpicxx is not None), None)
    if stack is None:
        pytest.skip(needs.NO_MPI)
    return stack, compiled(stack, tmp_path_factory.mktemp("mpi"))


def environment(stack: MpiStack) -> dict[str, str]:
    as_root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "I_MPI_PIN": "off"}
    return {**stack.env, **as_root}


def test_an_mpi_job_over_one_of_two_fabrics(place: Lab, stack_and_program: tuple[MpiStack, Path]) -> None:
    stack, program = stack_and_program
    over = {"FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth1", "UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth1"}
    over |= {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": "eth1"}
    env = {**environment(stack), **over}
    words = mpi_job(stack, "node1,node2", program)
    done = prove("--lab", place.name, "--expect", "second", *words, env=env)
    assert done.returncode == 0, done.stderr
    assert "proved (second): " in done.stderr
    done = prove("--lab", place.name, "--expect", "first", *words, env=env)
    assert done.returncode == 3, done.stderr
    assert "tcp over eth1" in done.stderr


def test_shared_memory_instead_of_tcp_is_refuted(place: Lab, stack_and_program: tuple[MpiStack, Path]) -> None:
    stack, program = stack_and_program
    env = environment(stack)
    words = mpi_job(stack, "node1:2" if stack.kind.startswith("openmpi") else "node1", program)
    done = prove("--lab", place.name, "--hosts", "node1", "--expect", "tcp", *words, env=env)
    assert done.returncode == 3, done.stderr
    assert "shared memory" in done.stderr


@pytest.fixture(scope="module")
def intel(tmp_path_factory: pytest.TempPathFactory) -> tuple[MpiStack, Path]:
    stack = next((one for one in STACKS if one.kind == "intelmpi" and one.mpicxx is not None), None)
    if stack is None:
        needs.skip("there is no Intel MPI", "`fabriscope mpi add intelmpi`")
    return stack, compiled(stack, tmp_path_factory.mktemp("intel"))


def test_intel_mpi_over_one_of_two_fabrics_says_so_itself(place: Lab, intel: tuple[MpiStack, Path]) -> None:
    stack, program = intel
    env = {**environment(stack), "FI_PROVIDER": "tcp", "FI_TCP_IFACE": "eth1"}
    words = mpi_job(stack, "node1,node2", program)
    done = prove("--lab", place.name, "--expect", "second", "--ask-library", *words, env=env)
    assert done.returncode == 0, done.stderr
    assert "proved (second): " in done.stderr
    assert "the library says: Intel MPI: tcp over eth1 between hosts" in done.stderr
    assert "the counters do not contradict it" in done.stderr
    done = prove("--lab", place.name, "--expect", "first", *words, env=env)
    assert done.returncode == 3, done.stderr
    assert "refuted (first): tcp over eth1 carried " in done.stderr


@pytest.mark.parametrize(("expected", "status", "verdict"), [("shm", 0, "proved"), ("tcp", 3, "refuted")])
def test_intel_mpi_inside_a_host_uses_memory(
    place: Lab, intel: tuple[MpiStack, Path], expected: str, status: int, verdict: str
) -> None:
    stack, program = intel
    words = mpi_job(stack, "node1", program)
    done = prove("--lab", place.name, "--hosts", "node1", "--expect", expected, *words, env=environment(stack))
    assert done.returncode == status, done.stderr
    assert f"{verdict} ({expected}): the ranks share " in done.stderr


@pytest.mark.parametrize("kind", ["openmpi", "mpich", "intelmpi"])
def test_a_launcher_needs_no_further_words_in_a_lab(place: Lab, kind: str, tmp_path: Path) -> None:
    """By `lab exec` and by `prove`, as root too, and with nothing that a user would have set."""
    stack = next((one for one in STACKS if one.kind.startswith(kind) and one.mpicxx is not None), None)
    if stack is None:
        pytest.skip(f"there is no {kind} with a compiler: fabriscope mpi add {kind}")
    program = compiled(stack, tmp_path)
    where = ["-H", "node1,node2"] if kind == "openmpi" else ["-hosts", "node1,node2", "-n", "2", "-ppn", "1"]
    own = ("OMPI_", "PRTE_", "HYDRA_", "I_MPI_")
    bare = {name: value for name, value in os.environ.items() if not name.startswith(own)}
    for door in (("lab", "exec", "--lab", place.name, "node1"), ("prove", "--lab", place.name, "--idle", "200ms")):
        argv = [sys.executable, "-m", "fabriscope", *door, "--", stack.mpirun, *where, str(program)]
        done = subprocess.run(
            argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False, env={**bare, **stack.env}
        )
        if door[0] == "lab":
            assert done.returncode == 0, done.stderr
        else:
            assert "the program ended with status" not in done.stderr, done.stderr
            assert "carried" in done.stderr


def test_a_host_of_the_lab_that_is_gone_is_told_before_the_program_runs() -> None:
    needs.lab()
    built = lab.up(LabSpec(("node1", "node2"), {}), name=f"gone-{secrets.token_hex(4)}", persistent=True)
    try:
        pid = str(built.state.details["pids"]["node2"])
        subprocess.run([*built.keeper_words, "kill", "-9", pid], check=True, timeout=TIMEOUT_S)
        until_s = time.monotonic() + TIMEOUT_S
        while "node2" not in built.broken_parts() and time.monotonic() < until_s:  # ends: a killed process is gone soon
            time.sleep(0.01)
        done = prove("--lab", built.name, "--", "true")
        assert done.returncode == 5
        assert f"lab {built.name}: host node2 is gone: its process has ended -- " in done.stderr
    finally:
        built.down()
