"""Runs over ssh on hosts of a lab with a real sshd: tcp and MPI, with and without a shared folder, and bad ends."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests import needs
from tests.ssh.cluster import HEAD, TIMEOUT_S, Cluster, cluster

from fabriscope import engine_binary
from fabriscope.hosts import mpi
from fabriscope.lab.presets import PRESETS

EVERY_MPI = bool(os.environ.get("FABRISCOPE_TEST_EVERY_MPI"))
"""Whether all MPI libraries that are found are tried, and not the first alone."""
EXAMPLES = Path(__file__).parents[2] / "examples"
PLAN = """
name: far
hosts: node[1-2]
ssh: {{between_hosts: {ssh}}}
fabrics: {{gige: {{interface: {{node1: eth0, node2: ens3}}}}}}
layers: {layers}
{mpi}
placements: [inter, intra]
benchmarks: {{ping_pong: {{sizes: [1, 4KiB]}}}}
launches: 1
budget: {budget}
"""


@pytest.fixture
def apart(tmp_path: Path) -> Iterator[Cluster]:
    """Yield hosts that share no folder with us, and whose interfaces have different names."""
    hidden = [tmp_path / "bin", tmp_path / "cache"]
    for folder in hidden:
        folder.mkdir()
    shutil.copy2(engine_binary.find_engine(), tmp_path / "bin")
    with cluster(tmp_path, ("node1", "node2"), {"gige": PRESETS["local"]}, hidden) as one:
        renamed = one.on("node2", "sh", "-c", "ip link set eth0 down name ens3; ip link set ens3 up")
        assert renamed.returncode == 0, renamed.stderr
        yield one


def environment(one: Cluster) -> dict[str, str]:
    own = {"FABRISCOPE_BIN_DIR": str(one.folder / "bin"), "XDG_CACHE_HOME": str(one.folder / "cache")}
    return {**os.environ, **own, "FABRISCOPE_SSH": one.ssh}


def write_plan(one: Cluster, layers: str, mpi_line: str = "", budget: str = "400ms") -> Path:
    path = one.folder / "plan.yaml"
    path.write_text(PLAN.format(ssh=one.ssh, layers=layers, mpi=mpi_line, budget=budget))
    return path


def records(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]


def measured(one: Cluster, plan: Path) -> list[dict[str, Any]]:
    run = one.folder / "run"
    done = one.fabriscope("run", plan, "-o", run, "-q", env=environment(one))
    assert (run / "journal.jsonl").exists(), done.stderr
    found = records(run)
    assert done.returncode == 0, [record["results"] for record in found]
    return found


def left_on(one: Cluster, name: str) -> list[str]:
    """Return the programs of ours that run on a host."""
    namespace = one.on(name, "readlink", "/proc/self/ns/net").stdout
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if f"{(folder / 'ns' / 'net').readlink()}\n" == namespace and "sshd" not in words:
                found.append(words)
        except OSError:
            continue
    return [words for words in found if "fabriscope-init" not in words]


def wait_until_clean(one: Cluster) -> None:
    """Wait until no host has a program of ours, nor the head a guard: it removes the launch's folder after them."""
    deadline = time.monotonic() + 60
    while any(left := {name: left_on(one, name) for name in (HEAD, *one.names)}.values()):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_without_a_shared_folder_the_engine_is_copied_measures_in_turns_and_nothing_else_stays(apart: Cluster) -> None:
    plan = write_plan(apart, "[tcp, shm]")
    plan.write_text(plan.read_text() + "turns: auto\n")
    found = measured(apart, plan)
    assert len({record["details"]["turn_group"] for record in found}) == 1
    assert all(record["details"]["turns"]["turns"] for record in found)
    assert {record["entry_id"] for record in found} == {"gige.tcp.inter", "tcp.intra", "shm.intra", "null.intra"}
    for name in apart.names:
        kept = apart.on(name, "find", str(apart.home), "-type", "f", "-name", "fabriscope-*").stdout.splitlines()
        assert [Path(path).relative_to(apart.home).parts[:3] for path in kept] == [(".cache", "fabriscope", "bin")]
    manifest = json.loads((apart.folder / "run" / "manifest.json").read_text())
    facts = {fact["name"]: fact["value"] for fact in manifest["hosts"]["node2"]["facts"]}
    assert facts["kernel.host_name"] == "node2"
    assert facts["interface.ens3.ipv4"].startswith("10.10.")
    assert facts["memory.copy_bytes_per_s"] > 0
    wait_until_clean(apart)


def test_with_a_shared_folder_nothing_is_copied(tmp_path: Path) -> None:
    shutil.copytree(engine_binary.find_engine().parent, tmp_path / "bin")
    with cluster(tmp_path, ("node1", "node2"), {"gige": PRESETS["local"]}) as one:
        plan = write_plan(one, "[tcp]")
        plan.write_text(plan.read_text().replace("ens3", "eth0"))
        measured(one, plan)
        assert one.on("node1", "find", str(one.home), "-type", "f").stdout == ""
        wait_until_clean(one)


@pytest.mark.timeout(1800)  # the engine is compiled once for every MPI
def test_an_mpi_job_runs_over_the_user_s_own_ssh(apart: Cluster) -> None:
    stacks = mpi.stacks() if EVERY_MPI else mpi.stacks()[:1]
    if not stacks:
        pytest.skip(needs.NO_MPI)
    for stack in stacks:
        built = engine_binary.build_mpi_engine(stack).parent
        shutil.copytree(built, apart.folder / "cache" / "fabriscope" / "engines" / built.name)
    names = ", ".join(f"{{name: {stack.name}, path: {stack.mpirun}}}" for stack in stacks)
    plan = write_plan(apart, "[mpi]", f"mpi: [{names}]", "2s")
    plan.write_text(plan.read_text().replace("4KiB", "64KiB"))  # of which five cross at least, however busy the machine
    found = measured(apart, plan)
    over = [record for record in found if record["entry_id"].startswith("gige.")]
    assert len(over) == len(stacks)
    counted = apart.on("node2", "cat", "/sys/class/net/ens3/statistics/rx_bytes").stdout
    assert int(counted) > 100_000 * len(stacks)
    wait_until_clean(apart)


RELAYED = """
import sys
from fabriscope.launch import tree
from fabriscope.launch.ssh import ControlFolder, Ssh
tree.FLAT_HOSTS = 2
ssh, names = tuple(sys.argv[1].split()), sys.argv[2:]
job = "def answer(request, body):\\n    return [os.uname().nodename, os.environ['SSH_CONNECTION'].split()[0]]\\n"
with ControlFolder() as folder, tree.Tree(folder.of(Ssh(ssh, ssh))) as jobs:
    for answer in jobs.ask(names, job, None, is_first=True).values():
        print(*(answer.value or [answer.problem]))
"""


def test_relays_go_through_the_hosts_own_ssh(tmp_path: Path) -> None:
    names = [f"node{number}" for number in range(1, 7)]
    with cluster(tmp_path, names, {}) as one:
        done = one.on(HEAD, sys.executable, "-c", RELAYED, one.ssh, *names)
        answers = dict(line.split() for line in done.stdout.splitlines())
        assert list(answers) == names, done.stderr
        head, *others = (one.lab.host(name).addresses["mgmt0"] for name in (HEAD, *names))
        # The first two are reached from the head, and take turns with the rest.
        assert list(answers.values()) == [head, head, *others[:2], *others[:2]]
        wait_until_clean(one)


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_nothing_stays_on_the_hosts_when_we_are_ended(apart: Cluster, how: signal.Signals) -> None:
    run = apart.folder / "run"
    plan = write_plan(apart, "[tcp]", budget="600s")
    ours = apart.start("run", plan, "-o", run, "-q", env=environment(apart))
    while not any("--rank 1" in words for words in left_on(apart, "node2")):
        assert ours.poll() is None, ours.communicate()
        time.sleep(0.05)
    for pid in _fabriscopes(apart):
        os.kill(pid, how)
    ours.communicate(timeout=TIMEOUT_S)
    wait_until_clean(apart)


def test_a_cut_cable_ends_what_runs_behind_it(apart: Cluster) -> None:
    """The host that is cut off cannot hear of our end: it takes silence for it, and we say what happened."""
    run = apart.folder / "run"
    plan = write_plan(apart, "[tcp]", budget="12s")
    plan.write_text(plan.read_text().replace("[inter, intra]", "[inter]") + "floor: false\n")
    ours = apart.start("run", plan, "-o", run, "-q", env=environment(apart))
    while not any("--rank 1" in words for words in left_on(apart, "node2")):
        assert ours.poll() is None, ours.communicate()
        time.sleep(0.05)
    cut = apart.on("node2", "sh", "-c", "ip link set mgmt0 down; ip link set ens3 down")
    assert cut.returncode == 0, cut.stderr
    ours.communicate(timeout=TIMEOUT_S)
    (record,) = records(run)
    (mishap,) = record["mishaps"]
    assert mishap.startswith("host node2 is gone: it cannot be entered")
    wait_until_clean(apart)
    # A run that goes on does what it can without the host, and with it once it is back.
    assert resumed(apart, run) == 10
    (_, record) = records(run)
    assert record["mishaps"][0].startswith("host node2 is gone: it cannot be reached")
    assert "it is gone, and no other host is left to stand in" in record["reason"]
    mended = apart.on("node2", "sh", "-c", "ip link set mgmt0 up; ip link set ens3 up")
    assert mended.returncode == 0, mended.stderr
    assert resumed(apart, run) == 0
    failed = [any(one["status"] == "failed" for one in record["results"].values()) for record in records(run)]
    assert failed == [True, True, False]
    wait_until_clean(apart)


def resumed(one: Cluster, run: Path) -> int:
    done = one.fabriscope("run", "--resume", run, "-q", env=environment(one))
    assert done.returncode in (0, 10), done.stderr
    return done.returncode


def test_the_example_runs(tmp_path: Path) -> None:
    fabrics = {"gige": PRESETS["local"], "ipoib": PRESETS["local"]}
    with cluster(tmp_path, ("node1", "node2"), fabrics) as one:
        for name, interface in (("node1", "ib0"), ("node2", "ibp3s0")):
            script = f"ip link set eth1 down name {interface}; ip link set {interface} up"
            assert one.on(name, "sh", "-c", script).returncode == 0
        example = yaml.safe_load((EXAMPLES / "ssh.yaml").read_text()) | {"launches": 1, "budget": "500ms"}
        plan = tmp_path / "plan.yaml"
        plan.write_text(yaml.safe_dump(example))
        shutil.copytree(engine_binary.find_engine().parent, tmp_path / "bin")
        assert {record["entry_id"] for record in measured(one, plan)} >= {"gige.tcp.inter", "ipoib.tcp.inter"}


def _fabriscopes(one: Cluster) -> list[int]:
    """Return fabriscope's own process on the head: what waits for it here must not be the one that is killed."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[1:4] == [b"-m", b"fabriscope", b"run"] and str(one.folder / "run").encode() in words:
            found.append(int(folder.name))
    return found


def test_hosts_that_cannot_be_used_are_named_before_anything_runs(apart: Cluster) -> None:
    plan = write_plan(apart, "[tcp]")
    plan.write_text(plan.read_text().replace("node[1-2]", "node[1-4]").replace("ens3}", "ens3, node3: a, node4: b}"))
    done = apart.fabriscope("run", plan, "-o", apart.folder / "run", env=environment(apart))
    assert done.returncode == 5, done.stderr
    assert "host node3: it cannot be reached: ssh: Could not resolve hostname node3" in done.stderr
    assert "host node4: it cannot be reached" in done.stderr
    assert "node1" not in done.stderr
    assert not (apart.folder / "run").exists()
    wait_until_clean(apart)


def test_an_interface_that_is_not_there_is_a_mistake_of_the_plan(apart: Cluster) -> None:
    plan = write_plan(apart, "[tcp]")
    plan.write_text(plan.read_text().replace("ens3", "eth7"))
    done = apart.fabriscope("run", plan, "-o", apart.folder / "run", env=environment(apart))
    assert done.returncode == 2
    assert "interface 'eth7' has no IPv4 address on host node2" in done.stderr
    assert "ens3" in done.stderr
