"""The collector's parts, with what the kernel says made by hand."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fabriscope.hosts import counters
from fabriscope.launch import processes
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host

HERE = Host("here")


def test_what_waits_in_the_queues_of_interfaces_is_read_of_each_once(parts: dict[str, Any]) -> None:
    """A queue's classes repeat what it has, and are no interface's own."""

    def attribute(kind: int, value: bytes) -> bytes:
        return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)

    def told(parent: int, size: int) -> bytes:
        queue = attribute(parts["TCA_STATS_QUEUE"], struct.pack("=5I", 3, size, 0, 0, 0))
        return bytes(parts["TRAFFIC"].pack(0, 2, 1 << 16, parent, 0)) + attribute(parts["TCA_STATS2"], queue)

    answers = [(36, told(*one)) for one in ((parts["ROOT"], 3000), (1 << 16, 3000), (parts["ROOT"], 500))]
    parts["dump"] = lambda *_: iter(answers)
    assert parts["queued_bytes"]() == 3500


def a_process(parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch, error: type[OSError] | None = None) -> Any:
    """Return the processes of a host, to which number 4711000 has come, of which perhaps nothing may be read.

    No kernel gives that number: a real process of it would be looked at, too.
    """
    every = parts["Processes"]("", {})
    monkeypatch.setitem(parts, "variables_of", lambda _: {})

    def readlink(path: str) -> str:
        if "/4711000/" not in path:
            return os.readlink(path)  # noqa: PTH115 - as the collector does
        if error is not None:
            raise error
        return str(every.spaces.own) if path.endswith("net") else "/bin/app"

    fake = type("os", (), {**vars(os), "readlink": staticmethod(readlink)})
    monkeypatch.setitem(parts, "os", fake)
    monkeypatch.setitem(parts, "parent_of", lambda _: 1)
    every.new[4711000] = parts["Process"](4711000, 0.0)
    return every


@pytest.mark.parametrize("error", [None, PermissionError])
def test_only_what_can_be_read_grows_too_old(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch, error: type[OSError] | None
) -> None:
    every = a_process(parts, monkeypatch, error)
    one = every.new[4711000]
    every.inspect(one, 0.5)
    assert 4711000 in every.new
    every.inspect(one, 2.0)
    assert (4711000 in every.old, 4711000 in every.new) == ((True, False) if error is None else (False, True))


def test_a_child_of_the_jobs_that_hides_is_a_problem_at_the_second_look(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    every = a_process(parts, monkeypatch, PermissionError)
    one = every.new[4711000]
    every.inspect(one, 0.1)
    every.inspect(one, 0.2)
    assert every.problems == {}  # a stranger's
    every.of_job[1] = parts["Process"](1, 0.0)
    every.inspect(one, 0.4)
    assert every.problems == {}
    every.inspect(one, 0.8)
    assert every.problems["open files"].startswith("those of process 4711000 (")


@pytest.mark.parametrize("argv", [["true"], ["sleep", "60"]])
def test_only_the_files_of_one_that_lives_are_missed(
    parts: dict[str, Any], monkeypatch: pytest.MonkeyPatch, argv: list[str]
) -> None:
    every = parts["Processes"]("", {})
    with subprocess.Popen(argv) as child:
        try:
            if argv == ["true"]:
                os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it stays, without memory
            monkeypatch.setattr(os, "listdir", _refused)
            every.look_at_files(parts["Process"](child.pid, 0.0), {})
        finally:
            child.kill()
    assert ("open files" in every.problems) == (argv != ["true"])


def _refused(_path: str) -> list[str]:
    raise PermissionError


def test_the_number_of_one_that_has_ended_is_nobodys(parts: dict[str, Any]) -> None:
    every = parts["Processes"]("", {})
    gone = 2**22 + 1  # no process has it
    every.new[gone] = every.of_job[gone] = parts["Process"](gone, 0.0)
    every.look(1.0)
    assert gone not in every.of_job
    assert gone not in every.new


@pytest.mark.parametrize(("counter", "is_late"), [("recoverable_errors", True), ("ip4OutOctets", False)])
def test_the_last_reading_waits_for_a_card_that_counts_late(
    parts: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, counter: str, is_late: bool
) -> None:
    """bnxt_re, by its driver's source: what was moved last is told a second later."""
    folder = tmp_path / "class" / "infiniband" / "bnxt_re0" / "ports" / "1" / "hw_counters"
    folder.mkdir(parents=True)
    (folder / counter).write_text("0\n")
    sent = folder / "tx_bytes"
    sent.write_text("0\n")
    collector = parts["Collector"]({"interval_s": 1.0, "sys_folder": str(tmp_path), "mark": "x"})
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if sum(slept) > 1.0:
            sent.write_text("4096\n")

    told: list[int] = []
    monkeypatch.setattr(parts["time"], "sleep", sleep)
    collector.sockets.hear = lambda: 0
    collector.reading = lambda _: told.append(collector.rdma.counters()["bnxt_re0/1"]["hw.tx_bytes"])
    collector.end()
    assert told == [4096 if is_late else 0]


def test_readings_of_a_long_job_grow_apart(parts: dict[str, Any]) -> None:
    count, at_s = 0, 0.0
    while at_s < 24 * 3600:
        at_s += parts["apart_s"](1.0, at_s)
        count += 1
        assert at_s > 300 or at_s == count
    assert count < 2500


# argv: a file. Waits until the process whose number stands in it, if it is there, has ended.
WAIT = """
import pathlib, sys, time
known = pathlib.Path(sys.argv[1])
folder = pathlib.Path("/proc") / (known.read_text().strip() if known.exists() else "0")
while folder.exists() and " Z " not in (folder / "stat").read_text():
    time.sleep(0.02)
"""


def test_a_watcher_that_is_late_is_killed_before_the_launch_and_says_why(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(processes, "WATCHERS_GRACE_S", 1.0)
    known = tmp_path / "number"
    script = f"echo $$ > {known}; exec sleep 600"
    told, done = run_commands(
        [Command((sys.executable, "-c", WAIT, str(known)), HERE.name)],
        {HERE.name: HERE},
        timeout_s=60,
        watchers=[Command(("/bin/sh", "-c", script), HERE.name, ready_pattern="never", is_server=True)],
    )
    assert (told.exit_status, done.exit_status) == (None, 0)
    watch = counters.parse(told)
    assert watch.readings == ()
    assert watch.problems == {"collector": "it was not ready in time"}


def attribute(kind: int, value: bytes) -> bytes:
    """Return an attribute as netlink says it."""
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def test_queue_pairs_belong_to_the_job_or_to_others(parts: dict[str, Any], tmp_path: Path) -> None:
    pairs: dict[int, list[tuple[int, int, int | None]]] = {0: [(1, 1, None)], 1: [(9, 2, None)]}
    pairs[1] += [(number, 2, 300) for number in (10, 11, 12)]
    packets = {11: (5, 7), 12: (5, 7)}
    kernels, users = 28 + 1, parts["HOLDER"]

    def dump(family: int, kind: int, request: bytes) -> Any:
        assert family == parts["NETLINK_RDMA"]
        if kind == parts["RDMA_GET"]:
            for index in pairs:
                name = attribute(parts["DEVICE_NAME"], b"rxe%d\0" % index)
                yield kind, attribute(parts["DEVICE_INDEX"], struct.pack("=I", index)) + name
            return
        (index,) = struct.unpack_from("=I", request, 4)
        for number, its_type, pid in pairs[index]:
            entry = attribute(parts["QUEUE_PAIR_NUMBER"], struct.pack("=I", number))
            entry += attribute(parts["QUEUE_PAIR_TYPE"], bytes([its_type]))
            known = zip(parts["PACKET_NUMBERS"], packets.get(number, ()), strict=False)
            entry += b"".join(attribute(way, struct.pack("=I", packet)) for way, packet in known)
            entry += attribute(kernels, b"ib_core\0") if pid is None else attribute(users, struct.pack("=I", pid))
            yield kind, attribute(parts["QUEUE_PAIRS"], attribute(20, entry))

    parts.update(dump=dump, HOLDERS_SHARE=float("inf"))
    for device in ("rxe0", "rxe1"):
        (tmp_path / "class/infiniband" / device / "ports/1").mkdir(parents=True)
    (tmp_path / "class/infiniband_verbs/uverbs3").mkdir(parents=True)
    (tmp_path / "class/infiniband_verbs/uverbs3/ibdev").write_text("rxe1\n")
    rdma = parts["Rdma"](str(tmp_path))
    rdma.note_holders({}, True)
    pairs[0] += [(7, 2, 100), (8, 2, 200), (9, 4, 200)]
    packets[11] = (5, 8)  # it sent a packet; 12 stands still
    rdma.note_holders({100: None}, True)
    pairs[0] = []  # they have ended since
    rdma.note_holders({}, True)
    counters_of = {"rxe0/1": {"hw.sent_pkts": 5}, "rxe1/1": {}}
    rdma.add_holders(counters_of)
    names = [f"{whose}.queue_pairs" for whose in ("jobs", "others", "old")]
    assert counters_of["rxe0/1"] == {"hw.sent_pkts": 5, **dict(zip(names, (1, 2, 0), strict=True))}
    assert counters_of["rxe1/1"] == {**dict(zip(names, (0, 1, 3), strict=True)), "verbs.number": 3}


def test_a_kernel_that_does_not_tell_of_queue_pairs_leaves_it_open(parts: dict[str, Any], tmp_path: Path) -> None:
    def dump(*_: object) -> Any:
        raise OSError(93, "Protocol not supported")

    parts["dump"] = dump
    (tmp_path / "class/infiniband/rxe0/ports/1").mkdir(parents=True)
    rdma = parts["Rdma"](str(tmp_path))
    rdma.note_holders({100: None}, True)
    counters_of: dict[str, dict[str, int]] = {"rxe0/1": {}}
    rdma.add_holders(counters_of)
    assert counters_of == {"rxe0/1": {}}


@pytest.mark.parametrize(
    ("gid", "interface"),
    [
        ("02fa:b50b:0000:0000:0000:0000:0000:0000", "eth1"),  # siw: the hardware address
        ("02fa:b50c:0000:0000:0000:0000:0000:0000", ""),  # two interfaces have it
        ("fe80:0000:0000:0000:00fa:b5ff:fe0b:0000", ""),
        ("0000:0000:0000:0000:0000:0000:0000:0000", ""),
    ],
)
def test_iwarp_is_over_the_interface_whose_address_its_gid_is(
    parts: dict[str, Any], tmp_path: Path, gid: str, interface: str
) -> None:
    addresses = {"eth1": "02:fa:b5:0b:00:00", "eth2": "02:fa:b5:0c:00:00", "vlan2": "02:fa:b5:0c:00:00", "lo": ""}
    for name, address in addresses.items():
        (tmp_path / "class/net" / name).mkdir(parents=True)
        (tmp_path / "class/net" / name / "address").write_text(f"{address}\n")
    (tmp_path / "class/infiniband/siw1/ports/1/gids").mkdir(parents=True)
    (tmp_path / "class/infiniband/siw1/ports/1/gids/0").write_text(f"{gid}\n")
    assert parts["Rdma"](str(tmp_path)).interfaces() == ({"siw1/1": interface} if interface else {})


def test_what_an_interface_had_counted_when_it_was_removed_is_told(parts: dict[str, Any]) -> None:
    def about(kind: int, name: bytes, *counts: int) -> bytes:
        body = bytes(16)
        for attribute, data in ((parts["IFLA_IFNAME"], name), (parts["IFLA_STATS64"], struct.pack("=4Q", *counts))):
            body += struct.pack("=HH", 4 + len(data), attribute) + data + bytes(-len(data) % 4)
        return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body

    news = parts["LinkNews"]()
    news.note_removals(about(16, b"tap8\0", 1, 2, 30, 40) + about(parts["RTM_DELLINK"], b"tap9\0", 1, 2, 3000, 40000))
    assert news.last_counts == {"tap9": 43_000}
    collector = object.__new__(parts["Collector"])
    collector.link_news, collector.problems = news, {}
    collector.note_removed({"eth0"})
    assert (list(collector.problems.values()), news.last_counts) == (["tap9 (0.043 MB)"], {})
    news.last_counts = {"eth0": 10**6, "tap7": 9}
    collector.note_removed({"eth0"})
    assert list(collector.problems.values()) == ["tap9 (0.043 MB)"]


def test_who_began_beside_the_job_and_whose_parent_is_gone_may_be_its(parts: dict[str, Any]) -> None:
    processes = object.__new__(parts["Processes"])
    processes.new = {number: parts["Process"](number, 0.0) for number in (1 << 23, 1 + (1 << 23))}
    processes.new[1 << 23].is_orphan = True
    processes.of_job, processes.owners = {}, {}
    processes.confidants, processes.confided, processes.sought = set(), set(), set()
    processes.look_at_confidants(set())
    assert processes.confidants == {1 << 23}
