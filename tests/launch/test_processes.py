"""run_commands with real processes that crash, hang, stay silent, talk too much or leave children behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from fabriscope.launch import processes
from fabriscope.launch._process import Process
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import LaunchError, ToolMissing
from fabriscope.model.host import Host

HOSTS = {"here": Host("here")}
LONG_S = 60.0


def sh(script: str, **fields: object) -> Command:
    return Command(("/bin/sh", "-c", script), "here", **fields)  # type: ignore[arg-type]


def run(*commands: Command, timeout_s: float = LONG_S) -> list[Outcome]:
    return run_commands(commands, HOSTS, timeout_s=timeout_s)


def is_gone(pid: int) -> bool:
    """Return whether the process has ended; a dead one that init has not reaped yet counts."""
    for _ in range(1500):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        if state == "Z":
            return True
        time.sleep(0.02)
    return False


def test_an_outcome_holds_what_was_said() -> None:
    (outcome,) = run(sh("cat; echo err >&2; exit 3", stdin=b"in\n"))
    assert (outcome.exit_status, outcome.stdout, outcome.stderr) == (3, b"in\n", b"err\n")
    assert not outcome.timed_out
    assert outcome.elapsed_ns > 0


def test_a_signal_is_a_negative_exit_status() -> None:
    (outcome,) = run(sh("kill -SEGV $$"))
    assert outcome.exit_status == -signal.SIGSEGV


@pytest.mark.parametrize("stream", ["", ">&2"])
def test_a_program_that_writes_without_end_is_ended(stream: str) -> None:
    with pytest.raises(LaunchError, match=r"sh on here wrote more than 1 MiB: it was ended"):
        run(sh(f"exec yes {stream}", most_output_bytes=1 << 20))


def test_a_server_that_writes_without_end_is_ended_and_no_more_of_it_is_read() -> None:
    server = sh("echo ready; exec yes", ready_pattern="ready", is_server=True, most_output_bytes=1 << 20)
    with pytest.raises(LaunchError, match=r"sh on here wrote more than 1 MiB: it was ended"):
        run(server, sh("sleep 60"))


def test_what_a_first_command_says_goes_into_the_next_argv() -> None:
    first = sh(
        'echo noise; sleep 0.1; echo \'{"type":"listening","tcp_port":4711}\'; sleep 0.2',
        ready_pattern=r'"tcp_port":(?P<tcp_port>\d+)',
    )
    outcomes = run(first, sh("echo got {tcp_port} {other}"))
    assert outcomes[1].stdout == b"got 4711 {other}\n"
    assert outcomes[1].command.argv[-1] == "echo got 4711 {other}"


def test_the_next_command_is_not_started_when_the_first_dies_before_it_is_ready() -> None:
    outcomes = run(sh("echo no; exit 1", ready_pattern="yes"), sh("echo never"))
    assert [outcome.exit_status for outcome in outcomes] == [1]


def test_who_waits_for_a_program_to_measure_looks_ever_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look every 3 ms took enough of a core to change the rate of a stream between two guests by a twentieth."""
    looks = []
    look = Process.ready_groups

    def counted(process: Process) -> Mapping[str, str] | None:
        looks.append(process)
        return look(process)

    monkeypatch.setattr(Process, "ready_groups", counted)
    (outcome,) = run(sh("sleep 1; echo done", ready_pattern="done"))
    assert outcome.stdout == b"done\n"
    assert len(looks) < 120  # 333 at every 3 ms


def test_a_silent_command_is_ended_at_the_deadline() -> None:
    outcomes = run(sh("sleep 600", ready_pattern="yes"), sh("echo never"), timeout_s=0.3)
    assert len(outcomes) == 1
    assert outcomes[0].timed_out
    assert outcomes[0].exit_status is None


def test_a_command_that_ignores_sigterm_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "TERM_GRACE_S", 0.2)
    (outcome,) = run(sh("trap '' TERM; echo $$; while :; do sleep 0.05; done"), timeout_s=0.3)
    assert outcome.timed_out
    assert is_gone(int(outcome.stdout))


def test_sigterm_comes_first_and_last_words_are_kept() -> None:
    (outcome,) = run(sh("trap 'echo bye; exit 143' TERM; while :; do sleep 0.05; done"), timeout_s=0.4)
    assert outcome.stdout == b"bye\n"
    assert outcome.exit_status is None


def test_what_waits_for_the_program_is_not_asked_to_end_before_it(tmp_path: Path) -> None:
    """As in a lab's host, where nsenter waits for the program; asked itself, it would leave the program behind."""
    waiter = tmp_path / "nsenter"
    waiter.symlink_to("/bin/sh")
    program = "trap 'echo bye; exit 143' TERM; echo up; while :; do sleep 0.05; done"
    hosts = {"space": Host("space", access=(str(waiter), "-c", '"$@"; exit $?', "sh"), kind="namespace")}
    (outcome,) = run_commands([Command(("/bin/sh", "-c", program), "space")], hosts, timeout_s=0.6)
    assert outcome.stdout == b"up\nbye\n"


def test_huge_output_blocks_nobody() -> None:
    size = 30_000_000
    (outcome,) = run(sh(f"head -c {size} /dev/zero & head -c {size} /dev/zero >&2; wait"))
    assert (len(outcome.stdout), len(outcome.stderr)) == (size, size)


def test_large_stdin_that_nobody_reads_blocks_nobody() -> None:
    (outcome,) = run(sh("exit 0", stdin=b"x" * 10_000_000))
    assert outcome.exit_status == 0


@pytest.mark.parametrize("detach", ["", "setsid "])
def test_grandchildren_do_not_stay(detach: str) -> None:
    (outcome,) = run(sh(f"{detach}sleep 600 & echo $!; exit 0"))
    assert outcome.exit_status == 0
    assert is_gone(int(outcome.stdout))


def living_in_session(session: int) -> list[int]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, its_session, *_ = (entry / "stat").read_text().rpartition(")")[2].split()
            if state != "Z" and int(its_session) == session:
                found.append(int(entry.name))
    return found


def test_a_stray_that_has_children_all_the_time_is_ended_with_them(tmp_path: Path) -> None:
    """As mpirun's proxies do: in a session of their own, and just about to start the next process."""
    chain = tmp_path / "chain"
    chain.write_text(f'#!/bin/sh\necho $$ >> {tmp_path}/pids\n[ "$1" -gt 400 ] || "$0" $(($1 + 1))\nsleep 600\n')
    chain.chmod(0o755)
    (outcome,) = run(sh(f"setsid {chain} 0 & sleep 0.05; exit 0"))
    assert outcome.exit_status == 0
    begun = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    is_clean = all(map(is_gone, begun))
    while not is_clean and (left := living_in_session(begun[0])):  # a failure leaves nothing behind either
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert is_clean


def test_a_server_is_ended_after_the_others_and_its_status_does_not_matter() -> None:
    server = sh("echo ready; exec sleep 600", ready_pattern="ready", is_server=True)
    outcomes = run(server, sh("exit 0"))
    assert [outcome.exit_status for outcome in outcomes] == [None, 0]
    assert not outcomes[0].timed_out


def test_a_server_that_ends_does_not_end_the_others() -> None:
    outcomes = run(sh("exit 1", is_server=True), sh("sleep 0.3; echo done"))
    assert [outcome.exit_status for outcome in outcomes] == [1, 0]


def test_a_program_that_hangs_after_its_last_line_is_ended_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As some MPI libraries do in MPI_Finalize."""
    monkeypatch.setattr(processes, "LAST_LINE_GRACE_S", 1.0)
    hung = sh("echo first; echo the end; exec sleep 600", last_line="^the end", ready_pattern="^the end")
    outcomes = run(hung, sh("sleep 2; echo done"), sh("echo the end; exit 0", last_line="^the end"))
    assert [outcome.exit_status for outcome in outcomes] == [None, 0, 0]
    assert [outcome.stdout for outcome in outcomes] == [b"first\nthe end\n", b"done\n", b"the end\n"]
    assert not any(outcome.timed_out for outcome in outcomes)


def test_when_one_peer_dies_the_others_get_a_short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "PEER_GRACE_S", 0.2)
    started_s = time.monotonic()
    outcomes = run(sh("sleep 600"), sh("exit 7"))
    assert [outcome.exit_status for outcome in outcomes] == [None, 7]
    assert time.monotonic() - started_s < LONG_S


def test_a_peer_that_notices_within_the_grace_tells_its_own_status() -> None:
    outcomes = run(sh("sleep 0.2; exit 5"), sh("exit 7"))
    assert [outcome.exit_status for outcome in outcomes] == [5, 7]


def test_a_peer_that_ended_well_does_not_hurry_the_others() -> None:
    outcomes = run(sh("exit 0"), sh("sleep 0.5; echo done"))
    assert outcomes[1].stdout == b"done\n"


def test_cancel_ends_everything_and_returns_what_there_is() -> None:
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    outcomes = run_commands([sh("echo so far; exec sleep 600")], HOSTS, timeout_s=LONG_S, cancel=cancel)
    assert outcomes[0].stdout == b"so far\n"
    assert outcomes[0].exit_status is None
    assert not outcomes[0].timed_out


def test_missing_programs_and_hosts_are_told_apart() -> None:
    with pytest.raises(ToolMissing, match="no-such-program"):
        run(Command(("no-such-program",), "here"))
    with pytest.raises(LaunchError, match="no host 'there'"):
        run(Command(("true",), "there"))


def test_what_was_started_before_a_missing_program_is_ended(tmp_path: Path) -> None:
    first = sh(f"echo $$ > {tmp_path}/pid; echo ready; exec sleep 600", ready_pattern="ready")
    with pytest.raises(ToolMissing):
        run(first, Command(("no-such-program",), "here"))
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_raw_output_is_kept(tmp_path: Path) -> None:
    run_commands([sh("echo a"), sh("echo b >&2")], HOSTS, timeout_s=LONG_S, raw_dir=tmp_path / "raw")
    assert sorted(path.name for path in (tmp_path / "raw").iterdir()) == [
        "0-sh.stderr", "0-sh.stdout", "1-sh.stderr", "1-sh.stdout",
    ]  # fmt: skip
    assert (tmp_path / "raw" / "1-sh.stderr").read_text() == "b\n"


def test_the_access_prefix_goes_first_and_no_secret_shows_in_an_argv() -> None:
    hosts = {"space": Host("space", access=("env", "INSIDE=1"), kind="namespace")}
    secret = "s3cret-token"  # noqa: S105 - made up
    command = Command(
        ("/bin/sh", "-c", 'echo "$INSIDE $FABRISCOPE_TOKEN"; tr "\\0" " " < /proc/$$/cmdline'),
        "space",
        env={"FABRISCOPE_TOKEN": secret},
    )
    (outcome,) = run_commands([command], hosts, timeout_s=LONG_S)
    words, _, argv = outcome.stdout.decode().partition("\n")
    assert words == f"1 {secret}"
    assert secret not in argv


CHILD = """
import sys
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host
script = "echo $$ > {folder}/leader; sleep 600 & echo $! > {folder}/child; wait"
run_commands([Command(("/bin/sh", "-c", script), "here")], {{"here": Host("here")}}, timeout_s=600)
"""


def test_our_own_death_ends_what_we_started(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", CHILD.format(folder=tmp_path)], env=os.environ) as ours:
        while not (tmp_path / "child").exists() or not (tmp_path / "child").read_text().strip():
            assert ours.poll() is None
            time.sleep(0.02)
        ours.kill()
    assert is_gone(int((tmp_path / "leader").read_text()))
    assert is_gone(int((tmp_path / "child").read_text()))


def test_what_was_started_but_not_yet_told_ends_with_us_when_we_are_killed(tmp_path: Path) -> None:
    """Between a start and its word to the guard there is a moment in which nobody else knows of the process."""
    program = f"""
import os, signal, subprocess
from fabriscope.launch._guard import Guard
from fabriscope.launch.on_host.sweep import MARK_VARIABLE
guard = Guard()
left = subprocess.Popen(["sleep", "600"], env={{**os.environ, MARK_VARIABLE: guard.mark}}, start_new_session=True)
open({str(tmp_path / "pid")!r}, "w").write(str(left.pid))
os.kill(os.getpid(), signal.SIGKILL)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=LONG_S)
    assert ended.returncode == -signal.SIGKILL
    assert is_gone(int((tmp_path / "pid").read_text()))
