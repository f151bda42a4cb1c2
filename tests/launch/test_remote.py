"""Commands on hosts behind a remote shell: a stand-in that enters this machine as ssh would (real sshd: tests/ssh)."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.launch.stand_in import far_host, make_ssh
from tests.launch.test_processes import is_gone

from fabriscope.hosts.access.orders import PATIENCE_S
from fabriscope.hosts.access.sent import PYTHON_WORDS, order
from fabriscope.launch import _remote_process, processes
from fabriscope.launch.on_host import program
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command, Outcome
from fabriscope.model.host import Host

LONG_S = 60.0


@pytest.fixture
def hosts(tmp_path: Path) -> dict[str, Host]:
    ssh = make_ssh(tmp_path)
    return {name: far_host(ssh, name) for name in ("far", "closed", "bare")}


def sh(script: str, host: str = "far", **fields: object) -> Command:
    return Command(("/bin/sh", "-c", script), host, **fields)  # type: ignore[arg-type]


def run(hosts: dict[str, Host], *commands: Command, timeout_s: float = LONG_S) -> list[Outcome]:
    return run_commands(commands, hosts, timeout_s=timeout_s)


def test_an_outcome_holds_what_the_program_said_and_no_greeting(hosts: dict[str, Host]) -> None:
    (outcome,) = run(hosts, sh("cat; echo err >&2; exit 3", stdin=b"in\n"))
    assert (outcome.exit_status, outcome.stdout, outcome.stderr) == (3, b"in\n", b"err\n")


def test_a_signal_is_a_negative_exit_status(hosts: dict[str, Host]) -> None:
    (outcome,) = run(hosts, sh("kill -SEGV $$"))
    assert outcome.exit_status == -signal.SIGSEGV


def test_variables_arrive_and_no_secret_shows_in_an_argv(hosts: dict[str, Host]) -> None:
    secret = "s3cret 'quoted'"  # noqa: S105 - made up
    script = 'printf "%s|%s|" "$FABRISCOPE_TOKEN" "$SSH_HOST"; cat /proc/*/cmdline | tr "\\0" "\\n"'
    (outcome,) = run(hosts, sh(script, env={"FABRISCOPE_TOKEN": secret}))
    assert outcome.stdout.startswith(f"{secret}|far|".encode())
    assert secret.encode() not in outcome.stdout.partition(b"|far|")[2]


def test_a_program_may_stand_in_the_home_of_its_host(hosts: dict[str, Host], tmp_path: Path) -> None:
    program = tmp_path / "homes" / "far" / "own"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho own $1\n")
    program.chmod(0o755)
    (outcome,) = run(hosts, Command(("~/own", "word"), "far"))
    assert outcome.stdout == b"own word\n"


def test_large_input_and_output_block_nobody(hosts: dict[str, Host]) -> None:
    size = 5_000_000
    echoed, unread = run(hosts, sh("cat", stdin=b"x" * size), sh("exit 0", stdin=b"x" * size))
    assert len(echoed.stdout) == size
    assert unread.exit_status == 0


def test_what_a_first_command_says_goes_into_the_next_argv(hosts: dict[str, Host]) -> None:
    first = sh("echo 'port 4711'; sleep 0.2", ready_pattern=r"port (?P<tcp_port>\d+)")
    outcomes = run(hosts, first, sh("echo got {tcp_port}"))
    assert outcomes[1].stdout == b"got 4711\n"


def test_a_missing_program_and_an_unreachable_host_say_so(hosts: dict[str, Host]) -> None:
    (outcome,) = run(hosts, Command(("no-such-program",), "far"))
    assert (outcome.exit_status, outcome.stderr) == (127, b"no-such-program: No such file or directory\n")
    (outcome,) = run(hosts, sh("true", "closed"))
    assert outcome.exit_status == 255
    assert b"Connection refused" in outcome.stderr
    assert b"the connection to host closed could not be made" in outcome.stderr


def test_sigterm_comes_first_and_last_words_are_kept(hosts: dict[str, Host]) -> None:
    script = "trap 'echo bye; exit 143' TERM; echo up; while :; do sleep 0.05; done"
    (outcome,) = run(hosts, sh(script), timeout_s=1.0)
    assert (outcome.stdout, outcome.exit_status, outcome.timed_out) == (b"up\nbye\n", None, True)


def test_of_an_mpi_job_mpirun_alone_is_asked_to_end(hosts: dict[str, Host]) -> None:
    child = "(trap 'echo child asked' TERM; sleep 1; echo child done) &"
    script = f"trap 'wait; echo bye; exit 0' TERM; {child} while :; do sleep 0.05; done"
    (outcome,) = run(hosts, sh(script, rank_hosts=("far", "far")), timeout_s=1.0)
    assert outcome.stdout == b"child done\nbye\n"


def test_a_program_that_ignores_sigterm_is_ended(hosts: dict[str, Host], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TERM_GRACE_S", 0.2)
    (outcome,) = run(hosts, sh("trap '' TERM; echo $$; while :; do sleep 0.05; done"), timeout_s=0.6)
    assert outcome.timed_out
    assert is_gone(int(outcome.stdout))


@pytest.mark.parametrize("detach", ["", "setsid "])
def test_what_a_program_leaves_behind_is_ended(hosts: dict[str, Host], detach: str) -> None:
    (outcome,) = run(hosts, sh(f"{detach}sleep 600 & echo $!; exit 0"))
    assert is_gone(int(outcome.stdout))


def test_the_end_of_one_command_leaves_another_on_its_host_alone(hosts: dict[str, Host]) -> None:
    outcomes = run(hosts, sh("sleep 0.5; echo still here"), sh("exit 0"))
    assert outcomes[0].stdout == b"still here\n"


# Stands for a connection: when it is killed, what is behind it sees its standard input end, and is heard no more.
CONNECTION = """
import os, subprocess, sys, threading
behind = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
def carry(source, to):
    while said := os.read(source.fileno(), 65536):
        os.write(to, said)
        if to == 1 and b"\\x1e" in said:  # not the greeting alone
            with open(sys.argv[1], "w") as file:
                file.write(str(os.getpid()))
for source, to in (behind.stdout, 1), (behind.stderr, 2), (sys.stdin, behind.stdin.fileno()):
    threading.Thread(target=carry, args=(source, to)).start()
"""


def test_a_lost_connection_is_told_and_ends_the_program(hosts: dict[str, Host], tmp_path: Path) -> None:
    access = (sys.executable, "-c", CONNECTION, str(tmp_path / "connection"), *hosts["far"].access)
    far = Host("far", access=access, mark="test")

    def cut() -> None:
        for name in ("pid", "connection"):
            while not (tmp_path / name).exists() or not (tmp_path / name).read_text().strip():
                time.sleep(0.02)
        os.kill(int((tmp_path / "connection").read_text()), signal.SIGKILL)

    threading.Thread(target=cut).start()
    script = f"echo $$ > {tmp_path}/pid; while :; do sleep 0.05; done"
    (outcome,) = run_commands([sh(script)], {"far": far}, timeout_s=LONG_S)
    assert outcome.exit_status == -signal.SIGKILL
    assert b"the connection to host far was lost" in outcome.stderr
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_silence_ends_the_program(hosts: dict[str, Host], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_remote_process, "PATIENCE_S", 0.5)
    monkeypatch.setattr(_remote_process, "HEARTBEAT_S", 600.0)
    (outcome,) = run(hosts, sh("trap 'echo bye; exit 1' TERM; echo up; while :; do sleep 0.05; done"))
    assert outcome.stdout == b"up\nbye\n"


def hurried(text: str) -> str:
    """Return a program's text, as long as it was, with a patience of one second."""
    return text.replace(f"alarm({PATIENCE_S})", "alarm(1)").replace(f"PATIENCE_S = {PATIENCE_S}", "PATIENCE_S = +1")


PROGRAM = hurried((program(("sweep", "temporary", "guard"), "guard()") + order({"argv": ["true"]})).decode())


@pytest.mark.parametrize("size", [0, len(PROGRAM) // 2, len(PROGRAM) - 1])
def test_who_is_never_told_what_to_do_ends(size: int) -> None:
    """Slurm keeps a step's standard input open when its srun was killed before it said everything."""
    with subprocess.Popen([hurried(word) for word in PYTHON_WORDS], stdin=subprocess.PIPE) as there:
        assert there.stdin is not None
        there.stdin.write(PROGRAM[:size].encode())
        there.stdin.flush()
        assert there.wait(LONG_S) == -signal.SIGALRM


CHILD = """
import sys
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host
script = "echo $$ > {folder}/leader; setsid sleep 600 & echo $! > {folder}/child; wait"
far = Host("far", access=({ssh!r}, "--", "far"), mark="test")
run_commands([Command(("/bin/sh", "-c", script), "far")], {{"far": far}}, timeout_s=600)
"""


def test_our_own_death_ends_what_we_started_there(tmp_path: Path) -> None:
    text = CHILD.format(folder=tmp_path, ssh=make_ssh(tmp_path))
    with subprocess.Popen([sys.executable, "-c", text], env=os.environ) as ours:
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text().strip():
            assert ours.poll() is None
            time.sleep(0.02)
        ours.kill()
    assert is_gone(int((tmp_path / "leader").read_text()))
    assert is_gone(int((tmp_path / "child").read_text()))
