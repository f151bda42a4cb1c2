"""`fabric up`, `fabric down` and `restore` as commands, with a stand-in for iproute2's rdma on a /sys of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import forked, needs
from tests.hosts.holding import LONG_S, left_over

from fabriscope.hosts.access import journal

RDMA = """#!/bin/sh
[ -z "$RDMA_SAYS" ] || { echo "$RDMA_SAYS" >&2; exit 1; }
case "$1 $2" in
  "link add") exec mkdir "/sys/class/infiniband/$3" ;;
  "link delete") exec rmdir "/sys/class/infiniband/$3" ;;
esac
"""
PLACE = 'mount -t tmpfs none /sys && mkdir -p /sys/class/infiniband && exec sh -c "$1"'
UP, DOWN = "f fabric up soft-roce --interface lo", "f fabric down soft-roce --interface lo"
LOOK = "echo devices: $(ls /sys/class/infiniband)"
Shell = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def shell(tmp_path: Path, state: Path) -> Shell:
    """Return what runs a script, in which `f` is fabriscope, where RDMA devices are folders."""
    needs.lab()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rdma").write_text(RDMA)
    (tmp_path / "bin" / "rdma").chmod(0o755)
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]

    def run(*lines: str, **variables: str) -> subprocess.CompletedProcess[str]:
        f = f'f() {{ {sys.executable} -m fabriscope "$@"; }}'
        argv = ["unshare", *user, "--mount", "sh", "-c", PLACE, "sh", "\n".join([f, *lines])]
        env = {**os.environ, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}", **variables}
        return subprocess.run(argv, capture_output=True, text=True, timeout=LONG_S, check=False, env=env)

    return run


def test_up_stays_and_down_takes_it_out_of_the_journal(shell: Shell) -> None:
    done = shell(UP, LOOK, "f restore", "f restore --list", UP, "echo $?", DOWN, LOOK, "f restore --list")
    lines = done.stdout.splitlines()
    assert lines[:2] == ["rxe_lo is over lo", "devices: rxe_lo"]
    assert lines[2].startswith("the RDMA device rxe_lo on localhost: left, it is meant to stay -- `fabriscope restore ")
    assert lines[3].endswith("  the RDMA device rxe_lo on localhost: absent -> there, meant to stay")
    assert lines[4:] == ["5", "rxe_lo is removed", "devices:", "nothing is changed"]
    assert "rxe_lo is there already -- `fabriscope fabric down soft-roce --interface lo`" in done.stderr


def test_restore_by_its_name_undoes_up(shell: Shell) -> None:
    name = "$(f restore --list | cut -d' ' -f1)"
    done = shell(UP, f"f restore --dry-run {name}", LOOK, f"f restore {name}", LOOK, "f restore")
    assert done.stdout.splitlines()[1:] == [
        "the RDMA device rxe_lo on localhost: would be absent again, was there",
        "devices: rxe_lo",
        "the RDMA device rxe_lo on localhost: is absent again, was there",
        "devices:",
        "nothing is changed",
    ]


def test_what_was_removed_by_hand_can_be_made_again(shell: Shell) -> None:
    done = shell(UP, "rdma link delete rxe_lo", UP, LOOK, "f restore --list | wc -l", DOWN)
    assert done.stdout.splitlines()[1:] == ["rxe_lo is over lo", "devices: rxe_lo", "1", "rxe_lo is removed"]


def test_with_a_command_it_is_there_for_as_long_as_that_runs(shell: Shell) -> None:
    done = shell(f"{UP} -- sh -c '{LOOK}; exit 7'", "echo $?", LOOK, "f restore --list")
    assert done.stdout.splitlines() == ["devices: rxe_lo", "7", "devices:", "nothing is changed"]


def test_killed_beside_its_command_the_device_goes(shell: Shell) -> None:
    done = shell(f"{UP} -- sh -c 'kill -KILL $PPID'", "sleep 2", LOOK, "f restore", "echo $?")
    lines = done.stdout.splitlines()
    assert lines == ["devices:", "the RDMA device rxe_lo on localhost: is absent already", "0"]


def test_a_kernel_without_the_driver_says_what_to_do(shell: Shell) -> None:
    done = shell(UP, "echo $?", "f restore --list", RDMA_SAYS="RTNETLINK answers: Operation not supported")
    assert done.stdout.splitlines() == ["5", "nothing is changed"]
    assert "`rdma link add rxe_lo type rxe netdev lo` failed: RTNETLINK answers: Operation not supported" in done.stderr
    assert "modprobe rdma_rxe" in done.stderr


def fabriscope(*words: str) -> subprocess.CompletedProcess[str]:
    return forked.fabriscope(words, timeout_s=LONG_S)


def test_restore_ends_with_10_for_what_it_leaves_and_forgets_what_it_is_told_to(setting: Path, state: Path) -> None:
    entry = left_over(setting)
    setting.write_text("4000\n")
    (state / "broken.json").write_text("{")
    (state / "broken.json").chmod(0o600)
    done = fabriscope("restore")
    assert done.returncode == 10
    assert "left alone, somebody else has set it to 4000" in done.stdout
    assert "broken.json: this change cannot be put back" in done.stderr
    (state / "broken.json").unlink()
    assert fabriscope("restore", "--forget").returncode == 2
    assert fabriscope("restore", "12345678").returncode == 2
    done = fabriscope("restore", "--forget", entry.name)
    assert (done.returncode, done.stdout) == (0, "the MTU of eth0 on localhost: forgotten, stays as it is\n")
    done = fabriscope("restore")
    assert (done.returncode, done.stdout) == (0, "nothing is changed\n")
    assert setting.read_text() == "4000\n"
    assert journal.entries() == []
