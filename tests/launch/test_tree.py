"""One job on many hosts: flat, over relays, with hosts that cannot be reached, and with an end without notice."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.launch.stand_in import make_ssh

from fabriscope.launch import tree
from fabriscope.launch.ssh import COMMAND_VARIABLE, ControlFolder, Ssh, chosen

JOB = """
def answer(request, body):
    return [os.environ["SSH_HOST"], request, len(body)]

def at_end(request):
    with open(request + "/" + os.environ["SSH_HOST"], "w") as file:
        file.write("ended")
"""


def ssh_of(folder: Path, between_hosts: str | None = None) -> Ssh:
    return Ssh((make_ssh(folder),), (between_hosts or make_ssh(folder),))


def names(count: int) -> list[str]:
    return [f"n{number}" for number in range(count)]


def test_every_host_answers_and_the_job_ends_with_us(tmp_path: Path) -> None:
    with tree.Tree(ssh_of(tmp_path)) as jobs:
        answers = jobs.ask(names(4), JOB, str(tmp_path), body=b"x" * 300_000)
        assert {name: one.value for name, one in answers.items()} == {
            name: [name, str(tmp_path), 300_000] for name in names(4)
        }
        assert not (tmp_path / "n0").exists()
    assert all((tmp_path / name).read_text() == "ended" for name in names(4))


def test_hosts_that_cannot_be_reached_say_why_and_hold_up_nobody(tmp_path: Path) -> None:
    with tree.Tree(ssh_of(tmp_path)) as jobs:
        answers = jobs.ask(["n0", "closed", "bare"], JOB, str(tmp_path))
    assert answers["n0"].value[0] == "n0"
    closed, bare = answers["closed"].problem, answers["bare"].problem
    assert closed == "it cannot be reached: ssh: connect to host closed port 22: Connection refused"
    assert bare == "it has no python3: sh: 1: python3: not found"


def test_a_job_that_fails_says_so(tmp_path: Path) -> None:
    with tree.Tree(ssh_of(tmp_path)) as jobs:
        answers = jobs.ask(["n0"], "def answer(request, body):\n    return [][1]\n", "")
    assert answers["n0"].problem == "IndexError: list index out of range"


def test_a_program_that_is_no_ssh_says_so() -> None:
    with tree.Tree(Ssh(("/no/such/ssh",))) as jobs:
        answers = jobs.ask(["n0"], JOB, "")
    assert answers["n0"].problem == "it cannot be reached: /no/such/ssh: No such file or directory"


def test_a_host_that_does_not_answer_in_time_is_told_apart(tmp_path: Path) -> None:
    slow = "import time\ndef answer(request, body):\n    time.sleep(request if os.environ['SSH_HOST'] == 'n1' else 0)\n"
    with tree.Tree(ssh_of(tmp_path)) as jobs:
        answers = jobs.ask(names(2), slow, 600, timeout_s=3)
    assert answers["n0"].problem is None
    assert answers["n1"].problem == "it did not answer in time"


def test_relays_reach_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tree, "FLAT_HOSTS", 4)
    hosts = [*names(11), "closed"]
    who = "def answer(request, body):\n    return os.environ['SSH_FROM']\n"
    with tree.Tree(ssh_of(tmp_path)) as jobs:
        answers = jobs.ask(hosts, JOB, str(tmp_path))
        assert [answers[name].value[0] for name in names(11)] == names(11)
        assert "Connection refused" in (answers["closed"].problem or "")
        parents = jobs.ask(names(11), who, "")
        relayed = [name for name in names(11) if parents[name].value]
        assert relayed == names(11)[3:]  # three are reached from here, the others through them
    assert all((tmp_path / name).read_text() == "ended" for name in names(11))


def test_hosts_that_do_not_know_each_other_are_reached_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "FLAT_HOSTS", 4)
    with tree.Tree(ssh_of(tmp_path, between_hosts="/bin/false")) as jobs:
        answers = jobs.ask(names(9), JOB, str(tmp_path))
    assert [answers[name].value[0] for name in names(9)] == names(9)


CHILD = """
import time
from pathlib import Path
from fabriscope.launch import tree
from fabriscope.launch.ssh import Ssh
tree.FLAT_HOSTS = 2
with tree.Tree(Ssh(({ssh!r},), ({ssh!r},))) as jobs:
    jobs.ask(["n0", "n1", "n2", "n3"], {job!r}, {folder!r})
    Path({folder!r}, "ready").touch()
    time.sleep(600)
"""


def test_our_own_death_ends_the_job_on_every_host(tmp_path: Path) -> None:
    text = CHILD.format(ssh=make_ssh(tmp_path), job=JOB, folder=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", text], env=os.environ) as ours:
        while not (tmp_path / "ready").exists():
            assert ours.poll() is None
            time.sleep(0.02)
        ours.kill()
    deadline = time.monotonic() + 30
    while not all((tmp_path / name).exists() for name in names(4)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_words_of_the_user_stand_first_and_the_environment_before_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(COMMAND_VARIABLE, raising=False)
    assert chosen().to("n0")[:3] == ("ssh", "-o", "BatchMode=yes")
    assert chosen().to("n0")[-2:] == ("--", "n0")
    assert chosen("ssh -F 'my file'").command == ("ssh", "-F", "my file")
    assert chosen(between_hosts="ssh -i key").to_below("n0")[:3] == ("ssh", "-i", "key")
    monkeypatch.setenv(COMMAND_VARIABLE, "other -o ConnectTimeout=3")
    assert chosen("ssh").to("n0")[:3] == ("other", "-o", "ConnectTimeout=3")


def test_shared_connections_have_a_private_folder_that_goes_with_us() -> None:
    with ControlFolder() as folder:
        words = folder.of(Ssh()).to("n0", is_first=True)
        assert "ControlMaster=yes" in words
        assert any(word.startswith(f"ControlPath={folder.path}/") for word in words)
        assert folder.path.stat().st_mode & 0o777 == 0o700
    assert not folder.path.exists()
