"""A guest's share of a processor: where a group can be made, what it is told, and that it goes with its lab."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests import needs
from tests.lab.on_hosts import COMMAND_TIMEOUT_S, on

from fabriscope import lab
from fabriscope.lab import cpu_share
from fabriscope.lab.cpu_share import Place, find
from fabriscope.lab.presets import PRESETS
from fabriscope.model.errors import LabError
from fabriscope.model.lab import LabSpec

V1 = "30 23 0:26 {root} {at} rw,relatime - cgroup cgroup rw,cpu,cpuacct\n"
V1 += "31 23 0:27 / /other rw - cgroup cgroup rw,pids\n"
V2 = "30 23 0:26 {root} {at} rw,relatime shared:4 - cgroup2 cgroup2 rw\n"
SPIN = """
import sys, time
end = time.monotonic() + 2
while time.monotonic() < end:
    pass
print("spun", flush=True)
sys.stdin.read()
"""


def _found(tmp_path: Path, mounts: str, groups: str, root: str = "/") -> Place:
    (tmp_path / "mountinfo").write_text(mounts.format(root=root, at=tmp_path / "groups"))
    (tmp_path / "cgroup").write_text(groups)
    return find(tmp_path / "mountinfo", tmp_path / "cgroup")


def test_by_version_1_a_group_is_made_below_our_own(tmp_path: Path) -> None:
    own = tmp_path / "groups" / "user" / "me"
    own.mkdir(parents=True)
    assert _found(tmp_path, V1, "4:pids:/else\n1:cpu,cpuacct:/user/me\n0::/x\n") == Place(own, 1)


def test_in_a_container_a_group_is_made_where_the_hierarchy_is_mounted(tmp_path: Path) -> None:
    folder = tmp_path / "groups"
    folder.mkdir()
    assert _found(tmp_path, V1, "1:cpu,cpuacct:/docker/1\n", "/docker/1") == Place(folder, 1)
    assert _found(tmp_path, V1, "1:cpu,cpuacct:/../2\n", "/") == Place(folder, 1)


def test_by_version_2_a_group_is_made_below_the_nearest_that_hands_processors_down(tmp_path: Path) -> None:
    own = tmp_path / "groups" / "user.slice" / "session.scope"
    own.mkdir(parents=True)
    for folder, handed in ((own, ""), (own.parent, "memory pids cpu"), (own.parent.parent, "cpu")):
        (folder / "cgroup.subtree_control").write_text(handed)
    assert _found(tmp_path, V2, "0::/user.slice/session.scope\n") == Place(own.parent, 2)


def test_a_mount_may_have_no_source(tmp_path: Path) -> None:
    (tmp_path / "groups").mkdir()
    with pytest.raises(LabError, match="groups hands no controller of processors down"):
        _found(tmp_path, V2.replace("cgroup2 cgroup2", "cgroup2 "), "0::/\n")


def test_where_no_group_can_be_made_one_sentence_says_why(tmp_path: Path) -> None:
    (tmp_path / "groups").mkdir()
    with pytest.raises(LabError, match="groups hands no controller of processors down -- run as root"):
        _found(tmp_path, V2, "0::/\n")
    with pytest.raises(LabError, match="this machine has no control groups of processors"):
        _found(tmp_path, "", "0::/\n")


def test_a_group_is_told_its_share_recorded_and_removed(tmp_path: Path) -> None:
    folder, groups = tmp_path / "some-lab", tmp_path / "groups"
    folder.mkdir()
    groups.mkdir()
    first = cpu_share.make(folder, "a", 0.5, Place(groups, 2))
    assert (first / "cpu.max").read_text() == "1000 2000"
    second = cpu_share.make(folder, "b", 0.1, Place(groups, 1))
    assert [(second / name).read_text() for name in ("cpu.cfs_quota_us", "cpu.cfs_period_us")] == ["1000", "10000"]
    with pytest.raises(LabError, match="it cannot have 10% of a processor"):
        cpu_share.make(folder, "b", 0.1, Place(groups, 1))
    with pytest.raises(LabError, match="cannot be made"):  # its folder is gone: nobody would know of the group
        cpu_share.make(tmp_path / "gone", "c", 0.1, Place(groups, 1))
    for group in (first, second):  # of a real one these go with the folder
        for file in group.iterdir():
            file.unlink()
    cpu_share.remove(folder)
    assert list(groups.iterdir()) == []


def test_only_guests_have_shares() -> None:
    for shares, words in (({"n": 0.5}, "'n' is no guest"), ({"a": 0.01}, "a share of 0.01 of a processor is outside")):
        with pytest.raises(LabError, match=words):
            lab.up(LabSpec(("a", "n"), {"gige": PRESETS["gige"]}, guests=("a",), cpu_shares=shares))


def test_a_slower_guest_gets_its_share_and_no_group_stays() -> None:
    needs.guests()
    place = needs.cpu_shares()
    built = lab.up(LabSpec(("a",), {"gige": PRESETS["gige"]}, guests=("a",), cpu_shares={"a": 0.2}))
    try:
        (group,) = place.folder.glob(f"fabriscope-{built.name}-*")
        assert on(built, "a", "cat", "/run/fabriscope-cpu-share").stdout == "0.2\n"
        argv = [*built.host("a").access, sys.executable, "-I", "-c", SPIN]
        before, began = _used_ns(group), time.monotonic()
        with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as spinning:
            assert spinning.stdout is not None
            assert spinning.stdout.readline() == "spun\n"
            used_ns = sum(ns - before.get(pid, 0) for pid, ns in _used_ns(group).items())
            elapsed_ns = (time.monotonic() - began) * 1e9
            spinning.communicate(timeout=COMMAND_TIMEOUT_S)
        assert 0 < used_ns < 0.25 * elapsed_ns
    finally:
        built.down()
    assert not group.exists()
    assert not built.state.folder.exists()


def _used_ns(group: Path) -> dict[str, int]:
    """Return the processor's time that each process of a group has used; those of a guest have one thread each."""
    used = {}
    for pid in (group / "cgroup.procs").read_text().split():
        with contextlib.suppress(OSError):  # it has ended meanwhile
            used[pid] = int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    return used
