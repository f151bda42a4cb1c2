"""Plans that were written to break their reader are refused in a sentence with its place, before they are unfolded."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from tests import forked
from tests.plan.hostile import HEAD, HOSTILE, TAIL

from fabriscope.model.benchmarks import BENCHMARKS
from fabriscope.model.errors import HostError, PlanError
from fabriscope.model.host_lists import MAX_LISTED, most_hosts, unfolded
from fabriscope.plan import Vocabulary, expand, expected_by_launch, load
from fabriscope.plan.mistakes import MAX_PROBLEMS
from fabriscope.running.site import planned_fabrics

WORDS = Vocabulary(
    frozenset(BENCHMARKS),
    frozenset({"engine"}),
    frozenset({"tcp", "mpi", "shm", "verbs"}),
    frozenset({"gige", "local"}),
)


def read_whole(path: Path, words: Vocabulary = WORDS) -> int:
    """Do what `plan check` does with a plan; return the number of its launches."""
    plan = load(path, words)
    fabrics = planned_fabrics(plan)
    schedule = expand(plan, fabrics, 4)
    return len(expected_by_launch(schedule.launches, fabrics, plan.guests))


def written(folder: Path, content: bytes | str) -> Path:
    path = folder / "plan.yaml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_there_are_a_hundred() -> None:
    assert len({name for name, _, _, _ in HOSTILE}) >= 100


@pytest.mark.parametrize(("name", "content", "line", "says"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_a_hostile_plan_is_answered_in_one_sentence(
    name: str, content: bytes, line: int, says: str | None, tmp_path: Path
) -> None:
    path = written(tmp_path, content)
    if says is None:
        assert read_whole(path) > 0
        return
    with pytest.raises(PlanError) as caught:
        read_whole(path)
    lines = str(caught.value).splitlines()
    assert any(says in one and (not line or f"plan.yaml:{line}: " in one) for one in lines), lines
    for one in lines:
        assert " -- " in one or ": " in one
        assert len(one) < 1000
        assert one.isprintable()


@pytest.mark.parametrize(
    "kind", ["a pipe", "a folder", "a device", "a socket", "a link to nothing", "a link in a ring"]
)
def test_what_is_no_regular_file_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "plan.yaml"
    listener = socket.socket(socket.AF_UNIX)
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "a device":
        path.symlink_to("/dev/zero")
    elif kind == "a socket":
        listener.bind(os.path.relpath(path))
    else:
        path.symlink_to(path.name if "ring" in kind else "absent")
    with pytest.raises(PlanError, match="cannot be read"):
        load(path, WORDS)
    listener.close()


def test_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(PlanError, match="cannot be read"):
        load(Path("a\0b"), WORDS)
    with pytest.raises(PlanError, match="cannot be read: File name too long"):
        load(Path("x" * 5000), WORDS)


def test_a_paper_that_is_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "paper.yaml")
    with pytest.raises(PlanError, match=r"paper\.yaml: the plan cannot be read: it is a pipe"):
        load(written(tmp_path, f"{HEAD}paper: {{file: paper.yaml}}\n{TAIL}"), WORDS)


def test_of_very_many_mistakes_the_first_are_named(tmp_path: Path) -> None:
    text = HEAD + "".join(f"key{number}: 1\n" for number in range(500)) + TAIL
    with pytest.raises(PlanError) as caught:
        load(written(tmp_path, text), WORDS)
    lines = str(caught.value).splitlines()
    assert len(lines) == MAX_PROBLEMS + 1
    assert lines[-1] == f"and {500 - MAX_PROBLEMS} more mistakes"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            "hosts: node[1-2]\nlayers: [mpi]\nmpi: [m]\nranks: [" + ", ".join(map(str, range(2, 602))) + "]",
            "600 layouts",
        ),
        ("hosts: node[1-4000]\nlayers: [mpi]\nmpi: [m]\nranks: all\nranks_per_host: 100", "400000 ranks are more"),
        (
            "hosts: node[1-3000]\nlayers: [mpi]\nmpi: [m]\nranks: [3000]\nranks_per_host: [1]\nmargin: 1%",
            "too large",
        ),
    ],
)
def test_layouts_of_ranks_are_counted_first(more: str, says: str, tmp_path: Path) -> None:
    text = f"name: x\n{more}\nfabrics: {{g: {{interface: eth0}}}}\n"
    text += "benchmarks: {allreduce: {sizes: [" + ", ".join(str(4 * n) for n in range(1, 1500)) + "]}}\n"
    with pytest.raises(PlanError, match=says):
        read_whole(written(tmp_path, text))


def test_launches_are_counted_before_they_are_made(tmp_path: Path) -> None:
    fabrics = ", ".join(f"f{number}: {{lab: gige}}" for number in range(60))
    text = (
        f"name: x\nhosts: a,b\nfabrics: {{{fabrics}}}\nlayers: [tcp, verbs, mpi]\nmpi: [m, n]\nlaunches: 1000\n{TAIL}"
    )
    text = text.replace("lab: gige", "interface: eth0, rdma: ib")
    with pytest.raises(PlanError, match=r"241 entries, 1000 times each, are 241000 launches"):
        read_whole(written(tmp_path, text))


def test_two_entries_of_one_name_are_refused(tmp_path: Path) -> None:
    text = (
        "name: x\nhosts: a\nfabrics: {mpi: {lab: gige}}\nintra_fabrics: [mpi]\nplacements: [intra]\n"
        f"layers: [tcp, mpi]\nmpi: [tcp]\n{TAIL}"
    )
    with pytest.raises(PlanError, match=r"plan\.yaml:3: two entries of this plan would be called mpi\.tcp\.intra"):
        read_whole(written(tmp_path, text))


def test_hosts_are_counted_without_unfolding_them() -> None:
    assert most_hosts("node[1-4],head") == 5
    assert most_hosts("r[1-3]n[01-04/2]") == 6
    assert unfolded("node[1-4],head") == ("head", "node1", "node2", "node3", "node4")
    with pytest.raises(HostError, match=f"names up to {MAX_LISTED + 1} hosts"):
        unfolded(f"n[1-{MAX_LISTED + 1}]")


ODD_GROUPS = (
    "@up:x;touch${IFS}ran;echo${IFS}n[1-2]", "@up:$(touch ran)", "@`touch ran`", "@up:x\ntouch ran",
    "n1,@up:a|touch>ran", "x@up:;touch>ran", "@up:-x", "@up:n[1;touch>ran]", "n!@$(touch>ran)", "@up:a*",
    "@$(touch>ran):x", "@up:x\u00a0y",
)  # fmt: skip


def test_a_group_is_no_command(tmp_path: Path) -> None:
    """A site may let a program list its groups: ClusterShell puts the group's name into a shell's line."""
    (tmp_path / "groups.conf").write_text("[Main]\ndefault: up\n[up]\nmap: echo $GROUP >> asked; echo n1,n2\n")
    script = """
import sys
from fabriscope.model.errors import HostError
from fabriscope.model.host_lists import unfolded
assert unfolded("@up:all,@rack[1-2],head") == ("head", "n1", "n2")
for text in sys.argv[1:]:
    try:
        raise SystemExit(f"{text!r} was taken for {unfolded(text)}")
    except HostError as error:
        assert "is no group of hosts" in str(error) or "are no numbers" in str(error), error
"""
    env = {**os.environ, "CLUSTERSHELL_CFGDIR": str(tmp_path)}
    argv = [sys.executable, "-c", script, *ODD_GROUPS]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "ran").exists()
    assert sorted((tmp_path / "asked").read_text().split()) == ["all", "rack1", "rack2"]


def test_the_command_line_answers_without_a_traceback(tmp_path: Path) -> None:
    """The whole command once: what the table reads in one process, a user reads on standard error."""
    path = written(tmp_path, HEAD + "pairs: &a [*a]\n" + TAIL)
    done = forked.fabriscope(["plan", "check", path])
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert f"{path}:4: an alias here stands for" in done.stderr
