"""An HDFS that runs already is used by its address, and holds afterwards only what it held before."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml
from tests import needs, running_hdfs
from tests.running_hdfs import PATH, ByHand

import fabriscope

MIB = 1 << 20
FILE_BYTES = 4 * MIB
RUN_LIMIT_S = 300.0
GONE_LIMIT_S = 90.0


@pytest.fixture(scope="module")
def by_hand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ByHand]:
    needs.lab()
    needs.java_app("hadoop")
    with running_hdfs.standing(tmp_path_factory.mktemp("hdfs")) as standing:
        yield standing


def argv_of(by_hand: ByHand, folder: Path, hosts: str = "node[1-3]", **hdfs: object) -> list[str]:
    """Return the words of a run that writes to it."""
    plan = {
        "name": "x",
        "hosts": hosts,
        "ssh": {"command": by_hand.remote_shell, "between_hosts": by_hand.remote_shell},
        "fabrics": {"gige": {"interface": "eth0"}},
        "layers": ["hdfs"],
        "placements": ["inter"],
        "benchmarks": {"hdfs_write": {"sizes": [FILE_BYTES]}, "hdfs_read": {"sizes": [FILE_BYTES]}},
        "services": {"hdfs": {"at": by_hand.address, "path": PATH, "replication": 2, "runs": 1, **hdfs}},
        "launches": 1,
        "floor": False,
    }
    path = folder / "plan.yaml"
    path.write_text(yaml.safe_dump(plan))
    return [sys.executable, "-m", "fabriscope", "run", str(path), "-o", str(folder / "run")]


def run(argv: list[str], user: str = running_hdfs.SUPERUSER) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "HADOOP_USER_NAME": user}
    return subprocess.run(argv, capture_output=True, text=True, timeout=RUN_LIMIT_S, check=False, env=env)


def records(folder: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / "run" / "journal.jsonl").read_text().splitlines()]


@pytest.mark.timeout(900)
@pytest.mark.parametrize("hosts", ["node[1-3]", "node1"])
def test_a_run_measures_it_and_leaves_what_was_there(by_hand: ByHand, tmp_path: Path, hosts: str) -> None:
    before = by_hand.listing()
    done = run(argv_of(by_hand, tmp_path, hosts))
    assert done.returncode == 0, done.stderr
    assert by_hand.listing() == before
    (record,) = records(tmp_path)
    details = record["details"]
    assert isinstance(details, dict)
    about = details["hdfs"]
    assert (about["at"], about["beside"]) == (by_hand.address, [f"{PATH}/fabriscope-of-somebody"])
    addresses = sorted(f"{by_hand.place.host(host).addresses['eth0']}:9866" for host in ("node2", "node3"))
    assert (sorted(about["datanodes"]), about["used"]) == (addresses, addresses)
    loaded = fabriscope.load(tmp_path / "run")
    values = [row for row in loaded.estimates().to_dicts() if row["metric_id"] == "hdfs_bandwidth_bytes_per_s"]
    assert len(values) == 2
    (verdict,) = loaded.transport().to_dicts()
    assert (verdict["verdict"], verdict["carried_by"]) == ("proved", "tcp over eth0"), verdict


def clients(mark: str) -> list[int]:
    """Return the Java processes that were told this mark, which only our own run was."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"java") and any(mark.encode() in word for word in words):
            found.append(int(folder.name))
    return found


def start_long(by_hand: ByHand, folder: Path) -> tuple[subprocess.Popen[str], str]:
    """Start a run that lasts, and return it and its mark once it has a folder of its own in HDFS with data in it."""
    mark = f"{PATH}/{secrets.token_hex(6)}"
    by_hand.shell("-mkdir", mark)
    argv = argv_of(by_hand, folder, path=mark, runs=1000)
    env = {**os.environ, "HADOOP_USER_NAME": running_hdfs.SUPERUSER}
    process = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=env)
    until(lambda: bool(clients(mark)), process)
    until(lambda: "/io_data/" in by_hand.shell("-ls", "-R", mark), process, pause_s=2.0)
    return process, mark


def until(is_so: Callable[[], bool], process: subprocess.Popen[str] | None = None, pause_s: float = 0.1) -> None:
    """Wait; who asks by starting a Java asks seldom, or it takes the processors from what it waits for."""
    end_s = time.monotonic() + GONE_LIMIT_S
    while not is_so():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end_s
        time.sleep(pause_s)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("whom", ["SIGINT", "SIGKILL", "client"])
def test_whatever_ends_a_run_its_folder_goes(by_hand: ByHand, tmp_path: Path, whom: str) -> None:
    before = by_hand.listing()
    process, mark = start_long(by_hand, tmp_path)
    if whom == "client":
        for pid in clients(mark):
            os.kill(pid, signal.SIGKILL)
    else:
        process.send_signal(signal.Signals[whom])
    _, said = process.communicate(timeout=RUN_LIMIT_S)
    assert process.returncode == {"SIGINT": 130, "SIGKILL": -signal.SIGKILL, "client": 10}[whom], said
    until(lambda: not clients(mark))
    assert by_hand.shell("-ls", mark) == ""
    by_hand.shell("-rmdir", mark)
    assert by_hand.listing() == before
    if whom == "client":
        (record,) = records(tmp_path)
        assert str(record["reason"]).startswith(f"{by_hand.address}: TestDFSIO ended with exit status 137"), record
        assert "may be left" not in str(record["reason"])


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("hdfs", "said"),
    [
        ({"replication": 3}, "3 copies need 3 DataNodes, and 2 are live"),
        ({"path": "/not/there"}, "there is no /not/there in it; `hdfs dfs -mkdir -p /not/there` makes it"),
        ({"path": f"{PATH}/z"}, f"{PATH}/z is no folder"),
        ({"at": "hdfs://node2-gige:9001"}, "nothing listens there"),
        ({"at": "hdfs://node2-gige:9866"}, "what listens there is no NameNode"),
        ({"at": "hdfs://nosuch:9000"}, "no such host is known"),
    ],
)
def test_what_cannot_be_used_is_refused_before_the_run(
    by_hand: ByHand, tmp_path: Path, hdfs: dict[str, object], said: str
) -> None:
    done = run(argv_of(by_hand, tmp_path, "node1", **hdfs))
    assert done.returncode == 6, done.stderr
    assert said in done.stderr.splitlines()[-1]
    assert not (tmp_path / "run").exists()


@pytest.mark.timeout(600)
def test_one_in_safe_mode_is_refused(by_hand: ByHand, tmp_path: Path) -> None:
    by_hand.admin("-safemode", "enter")
    try:
        done = run(argv_of(by_hand, tmp_path, "node1"))
    finally:
        by_hand.admin("-safemode", "leave")
    assert (done.returncode, "this HDFS is in safe mode" in done.stderr) == (6, True), done.stderr


@pytest.mark.timeout(900)
def test_who_is_no_superuser_is_told_of_too_few_copies_by_the_blocks(by_hand: ByHand, tmp_path: Path) -> None:
    before = by_hand.listing()
    done = run(argv_of(by_hand, tmp_path, "node1", replication=3), running_hdfs.USER)
    assert done.returncode == 10, done.stderr
    (record,) = records(tmp_path)
    assert str(record["reason"]) == (
        f"{by_hand.address}: 3 copies were asked for, and of a block there are 2: "
        "has it as many DataNodes that are live and have room?"
    )
    assert by_hand.listing() == before


@pytest.mark.timeout(600)
def test_a_folder_of_others_is_refused(by_hand: ByHand, tmp_path: Path) -> None:
    done = run(argv_of(by_hand, tmp_path, "node1", path="/user/bob"), running_hdfs.USER)
    assert done.returncode == 6, done.stderr
    assert "Permission denied: user=alice" in done.stderr.splitlines()[-1]
