"""Changes of a host over a real ssh: what cuts us off, or ends us, has its end there put the old value back."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.hosts.holding import HOLDER, children
from tests.ssh.cluster import HEAD, TIMEOUT_S, Cluster, cluster

from fabriscope.lab.presets import PRESETS

RESTORE = """
from fabriscope.hosts.access import changes, journal
print(*[result.text for result in changes.restored(journal.entries())], sep="\\n")
"""


@pytest.fixture(scope="module")
def far(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("ssh"), ["node1"], {"gige": PRESETS["gige"]}) as built:
        yield built


def length(far: Cluster) -> str:
    return far.on("node1", "cat", "/sys/class/net/eth0/tx_queue_len").stdout.strip()


def wait_until(is_so: Callable[[], object]) -> None:
    until_s = time.monotonic() + TIMEOUT_S
    while not is_so():
        assert time.monotonic() < until_s
        time.sleep(0.05)


def below(pid: int) -> Iterator[tuple[int, str]]:
    """Yield the processes that a process began, and those that they did, with their command lines."""
    for child in children(pid):
        yield child, Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ")
        yield from below(child)


def _ours(ended: str, pid: int) -> list[int]:
    if ended == "sshd":
        found = [one for one, words in below(os.getpid()) if words.startswith("sshd") and "notty" in words]
    else:
        found = [one for one, words in below(pid) if words.startswith("ssh ") == (ended == "ssh")]
    assert found
    return found


@pytest.mark.parametrize("ended", ["we", "ssh", "sshd"])
def test_whatever_ends_the_host_s_end_puts_it_back(ended: str, far: Cluster, tmp_path: Path) -> None:
    before = length(far)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    env = {**os.environ, "XDG_STATE_HOME": str(state)}
    access = [*shlex.split(far.ssh), "--", "node1"]
    argv = far.argv(HEAD, sys.executable, "-c", HOLDER, "/sys/class/net/eth0/tx_queue_len", "77", *access)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "changed\n"
        assert length(far) == "77"
        for pid in _ours(ended, process.pid):
            os.kill(pid, signal.SIGKILL)
        wait_until(lambda: length(far) == before)
        process.kill()
    done = subprocess.run(
        far.argv(HEAD, sys.executable, "-c", RESTORE),
        capture_output=True,
        text=True,
        env=env,
        timeout=TIMEOUT_S,
        check=True,
    )
    assert done.stdout in (f"the MTU of eth0 on far: is {before} already\n", "\n")
