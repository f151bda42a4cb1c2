"""The collector on real hosts: what it counts is what was sent, to the byte."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests import needs
from tests.launch.stand_in import far_host, make_ssh

from fabriscope.hosts import counters
from fabriscope.hosts.counters import parsing
from fabriscope.hosts.counters._collector import Collector
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.counters import CONFIDANT, RANK, Connection, Watch
from fabriscope.model.host import Host

HERE = Host("here")
LONG_S = 60.0
SEEN_S = 3.0  # who stays as long is looked at, also on a busy machine

# argv: bytes to send, bytes to answer, seconds to stay. Both ends in one process, over the machine's loopback.
TALK = """
import os, socket, sys, time
count, answer, stay_s = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
family = socket.AF_INET6 if ":" in sys.argv[4] else socket.AF_INET
listener = socket.socket(family)
listener.bind((sys.argv[4], 0))
listener.listen()
child = os.fork()
if child == 0:
    client = socket.create_connection(listener.getsockname()[:2])
    client.sendall(bytes(count))
    while answer:
        answer -= len(client.recv(1 << 16))
    time.sleep(stay_s)
    client.close()
    os._exit(0)
served, _ = listener.accept()
while count:
    count -= len(served.recv(1 << 16))
served.sendall(bytes(answer))
served.recv(1)
print(listener.getsockname()[1])
"""


def watched(
    script: str, *words: object, env: Mapping[str, str] | None = None, interval_s: float = 1.0
) -> tuple[Watch, bytes]:
    """Return what was seen while a Python script ran here, and what the script said."""
    command = Command((sys.executable, "-I", "-c", script, *map(str, words)), HERE.name, env=env or {})
    watchers = counters.commands([HERE], interval_s)
    told, done = run_commands([command], {HERE.name: HERE}, timeout_s=LONG_S, watchers=watchers)
    assert done.exit_status == 0, done.stderr
    return counters.parse(told), done.stdout


def of_port(watch: Watch, port: int) -> list[Connection]:
    """Return the last word on every connection at a port."""
    found = {
        one.cookie: one
        for reading in watch.readings
        for one in reading.connections
        if port in (one.local_port, one.remote_port)
    }
    return list(found.values())


@pytest.mark.parametrize("address", ["127.0.0.1", "::1"])
def test_a_connection_that_came_and_went_is_counted_to_the_byte(address: str) -> None:
    if address == "::1":
        needs.ipv6()
    watch, said = watched(TALK, 123_457, 1_001, 0, address)
    one, other = sorted(of_port(watch, int(said)), key=lambda connection: connection.sent_bytes)
    assert (one.sent_bytes, other.sent_bytes) == (1_001, 123_457)
    assert one.received_bytes in (123_457, 123_458)  # the other's end counts as a byte
    assert other.received_bytes in (1_001, 1_002)
    assert {one.local_address, one.remote_address, other.local_address} == {address}
    assert one.is_closed
    assert other.is_closed
    assert (one.local_port, one.remote_port) == (other.remote_port, other.local_port)
    assert (one.sent_segments or 0) > 0


def test_who_has_a_connection_is_remembered_after_its_end() -> None:
    watch, said = watched(TALK, 5_000, 1, SEEN_S, "127.0.0.1", env={"PMI_RANK": "3"})
    connections = of_port(watch, int(said))
    assert {one.role for one in connections} == {RANK}
    pids = {one.pid for one in connections}
    ranks = {one.pid: one for one in watch.readings[-1].processes if one.role == RANK}
    assert pids <= set(ranks)
    assert {one.rank for one in ranks.values()} == {3}
    assert all(one.program.startswith("python") for one in ranks.values())


CONTAINED = """
import ctypes, subprocess, time
time.sleep(0.3)
if ctypes.CDLL(None).unshare(0x40000000) != 0:  # CLONE_NEWNET
    raise SystemExit("no network namespace")
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
time.sleep(0.7)
"""


def test_a_network_namespace_of_the_jobs_is_entered() -> None:
    needs.root("only root enters the namespaces of others")
    needs.program("ip")
    watch, said = watched(CONTAINED + TALK, 123_457, 1, SEEN_S, "127.0.0.1")
    one, other = sorted(of_port(watch, int(said)), key=lambda connection: connection.sent_bytes)
    assert (one.sent_bytes, other.sent_bytes) == (1, 123_457)
    assert {one.role, other.role} == {RANK}
    assert one.space == other.space != ""
    assert "127.0.0.1" in watch.spaces[one.space]
    assert watch.problems == {}


def test_without_an_mpi_the_marked_program_is_what_sends() -> None:
    watch, said = watched(TALK, 5_000, 1, SEEN_S, "127.0.0.1")
    assert {one.role for one in of_port(watch, int(said))} == {RANK}
    assert {one.rank for one in watch.readings[-1].processes} == {None}


# argv: bytes. Listens for a while; then a connection comes and goes at once.
FLASH = """
import os, socket, sys, time
listener = socket.create_server(("127.0.0.1", 0))
time.sleep(0.7)
if os.fork() == 0:
    with socket.create_connection(listener.getsockname()) as client:
        client.sendall(bytes(int(sys.argv[1])))
    os._exit(0)
served, _ = listener.accept()
while served.recv(1 << 16):
    pass
served.close()
print(listener.getsockname()[1])
"""


def test_a_connection_that_nobody_saw_came_in_for_who_listens_at_its_port() -> None:
    watch, said = watched(FLASH, 4_321, env={"PMI_RANK": "5"})
    (accepted,) = (one for one in of_port(watch, int(said)) if one.local_port == int(said))
    assert accepted.received_bytes in (4_321, 4_322)
    assert accepted.role == RANK
    assert {one.rank for one in watch.readings[-1].processes if one.pid == accepted.pid} == {5}


class Holders:
    """Stands for the processes: who of the job holds which socket, and what others hold."""

    def __init__(self, owners: dict[int, int] | None = None, others: tuple[int, ...] = (), group: int | None = None):
        self.owners, self.group, self.has_strayed = owners or {}, group, False
        self.confided: set[int] = set()
        self.confidants: set[int] = set()
        self._others = set(others)

    def strangers(self, inodes: list[int]) -> dict[int, int]:
        return dict.fromkeys(self._others & set(inodes), 1)

    def may_be_ours(self, pid: int) -> bool:
        return pid in self.confidants

    def look_at_confidants(self, inodes: set[int]) -> None:
        self.confidants |= set(self.strangers(list(inodes)).values())


def unowned_connection(group: int | None = None) -> tuple[Any, Any]:
    """Return the sockets of a host at a later look, and one of which nobody is known to hold it."""
    names: dict[str, Any] = {}
    exec(counters.program(), names)  # noqa: S102 - our own text, as hosts are sent it
    sockets = names["Sockets"]({}, names["Births"](0), names["Namespaces"](()))
    one = names["Connection"](7, ["10.0.0.1", 1, "10.0.0.2", 2], 99)
    one.counts, one.uid, one.group = [0] * 5, os.geteuid(), group
    sockets.alive = {7: one}
    sockets.look_count = 4
    return sockets, one


def test_who_ended_between_a_look_at_sockets_and_one_at_files_is_no_stranger() -> None:
    sockets, one = unowned_connection()
    sockets.assign(Holders(others=(99,)))
    assert one.owner is None
    sockets.look_count = 5
    sockets.assign(Holders(others=(99,)))
    assert one.owner == -1
    sockets.assign(Holders({99: 42}))
    assert one.owner == 42


def test_what_no_process_is_seen_to_hold_is_nobodys() -> None:
    sockets, one = unowned_connection()
    for look in range(5, 12):
        sockets.look_count = look
        sockets.assign(Holders())
    assert one.owner is None  # a ring of io_uring, or the kernel: perhaps the job's


@pytest.mark.parametrize(("group", "owner"), [(25, 0), (1, -3)])
def test_the_kernel_knows_who_made_a_connection_that_no_process_is_seen_to_hold(group: int, owner: int) -> None:
    sockets, one = unowned_connection(group)
    sockets.assign(Holders(group=25))
    assert one.owner == owner


@pytest.mark.parametrize(("others", "owner"), [((99,), -1), ((), -3)])
def test_once_the_job_talks_to_somebody_it_is_looked_up_who_holds_what_others_made(
    others: tuple[int, ...], owner: int
) -> None:
    sockets, one = unowned_connection(1)
    holders = Holders(group=25, others=others)
    holders.confidants = {5}
    sockets.assign(holders)
    assert one.owner == owner  # what nobody holds any more, whoever the job talks to may have held
    holders.confidants, one.owner, one.sought = {1}, None, 0
    sockets.assign(holders)
    assert one.owner == (-2 if others else -3)


def test_who_listens_where_the_job_asked_and_went_is_whom_it_talks_to() -> None:
    sockets, one = unowned_connection()
    one.ends, one.owner, holders = ["127.0.0.1", 1, "127.0.0.1", 9900], 42, Holders(others=(77,))
    sockets.listeners = {77: 9900}
    assert sockets.confide(holders)
    assert holders.confidants == {1}
    assert not sockets.confide(holders)


def test_a_job_that_left_its_group_makes_nobody_a_stranger() -> None:
    sockets, one = unowned_connection(1)
    holders = Holders(group=25)
    holders.has_strayed = True
    sockets.assign(holders)
    assert one.owner is None


CALL = """
import socket, sys, time
client = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
client.sendall(bytes(777))
time.sleep(1.0)
"""


def hear_out(listener: socket.socket) -> None:
    """Take one connection, and hold it until the other end closes it."""
    with listener.accept()[0] as connection:
        while connection.recv(1 << 16):
            pass


def test_what_ran_before_is_somebody_elses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        accepted = threading.Thread(target=hear_out, args=(listener,), daemon=True)
        accepted.start()
        watch, _ = watched(CALL, port)
        accepted.join()
    ours, theirs = sorted(of_port(watch, port), key=lambda one: one.local_port == port)
    assert (ours.role, theirs.role) == (RANK, CONFIDANT)
    assert ours.sent_bytes == 777
    assert theirs.pid is None


def carry_on(listener: socket.socket, onward: int) -> None:
    """Do as a proxy: what one connection brings goes on by another one."""
    with listener.accept()[0] as brought, socket.create_connection(("127.0.0.1", onward)) as on:
        while data := brought.recv(1 << 16):
            on.sendall(data)


def test_what_a_proxy_of_before_carries_on_is_told_from_what_others_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy, socket.create_server(("127.0.0.1", 0)) as far:
        asked, onward = (one.getsockname()[1] for one in (proxy, far))
        threads = [threading.Thread(target=hear_out, args=(far,), daemon=True)]
        threads.append(threading.Thread(target=carry_on, args=(proxy, onward), daemon=True))
        for one in threads:
            one.start()
        watch, _ = watched(CALL, asked)
        for one in threads:
            one.join()
    carried = of_port(watch, onward)
    assert {one.role for one in carried} == {CONFIDANT}
    assert max(one.sent_bytes for one in carried) == 777


def test_a_reading_holds_interfaces_protocols_and_its_own_cost() -> None:
    watch, _ = watched(TALK, 3_000_000, 1, 0.3, "127.0.0.1", interval_s=0.1)
    first, last = watch.readings[0], watch.readings[-1]
    assert len(watch.readings) >= 3
    assert [one.at_ns for one in watch.readings] == sorted(one.at_ns for one in watch.readings)
    grown = last.interfaces["lo"]["tx_bytes"] - first.interfaces["lo"]["tx_bytes"]
    assert grown >= 3_000_000
    assert set(last.interfaces["lo"]) == set(first.interfaces["lo"])
    assert last.protocols["Tcp.OutSegs"] > first.protocols["Tcp.OutSegs"]
    assert "IpExt.OutOctets" in last.protocols
    assert all(one.cost_ns > 0 for one in watch.readings)
    assert watch.kernel == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert "127.0.0.1" in watch.addresses["lo"]
    assert watch.mtu_bytes["lo"] >= 1280
    assert watch.problems == {}


SHARE = """
import mmap, os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(file, 1 << 20)
shared = mmap.mmap(file, 1 << 20)
device = os.open("/dev/null", os.O_RDWR)
time.sleep(0.5)
"""


def test_shared_memory_of_a_rank_is_known_by_what_it_is(tmp_path: Path) -> None:
    path = tmp_path / "segment"
    watch, _ = watched(SHARE, path, env={"OMPI_COMM_WORLD_RANK": "0"})
    (rank,) = [one for one in watch.readings[-1].processes if one.role == RANK]
    ((identity, size),) = rank.shared_mappings.items()
    assert identity.endswith(f":{path.stat().st_ino} {path}")
    assert size == 1 << 20
    assert rank.devices == ()


CHANNELS = """
import os, socket, subprocess, sys, time
reader, writer = os.pipe()
one, other = socket.socketpair()
there = [reader, other.fileno()]
child = subprocess.Popen(sys.argv[1:2] + ["-c", "import time; time.sleep(0.6)"], pass_fds=there)
os.close(reader)
other.close()
time.sleep(0.6)
child.wait()
"""


def test_ends_of_pipes_and_unix_sockets_are_known() -> None:
    watch, _ = watched(CHANNELS, sys.executable)
    ours = [one for one in watch.readings[-1].processes if one.role == RANK]  # tests beside this one have ranks as well
    parent, child = sorted(ours, key=lambda one: one.pid)
    sockets = [text.split() for one in (parent, child) for text in one.channels if text.startswith("unix")]
    assert any([kind, second, to, first] in sockets for kind, first, to, second in sockets), sockets
    written = {text.split()[1] for text in parent.channels if text.startswith("pipe") and text.endswith("write")}
    read = {text.split()[1] for text in child.channels if text.startswith("pipe") and text.endswith("read")}
    assert written & read


def test_where_no_collector_can_run_the_launch_does(tmp_path: Path) -> None:
    watchers = [Command(("/bin/sh", "-c", "echo no python >&2; exit 1"), HERE.name, ready_pattern="x", is_server=True)]
    told, done = run_commands(
        [Command(("/bin/echo", "done"), HERE.name)], {HERE.name: HERE}, timeout_s=LONG_S, watchers=watchers
    )
    assert done.stdout == b"done\n"
    watch = counters.parse(told)
    assert watch.readings == ()
    assert watch.problems == {"collector": "no python"}


def test_over_ssh_behind_a_greeting(tmp_path: Path) -> None:
    far = far_host(make_ssh(tmp_path))
    command = Command((sys.executable, "-I", "-c", TALK, "4000", "1", "1.0", "127.0.0.1"), far.name)
    told, done = run_commands([command], {far.name: far}, timeout_s=LONG_S, watchers=counters.commands([far]))
    watch = counters.parse(told)
    assert watch.problems == {}
    connections = of_port(watch, int(done.stdout))
    assert sorted(one.sent_bytes for one in connections) == [1, 4000]
    assert {one.role for one in connections} == {RANK}


def test_a_host_that_cannot_be_reached_says_why(tmp_path: Path) -> None:
    far = far_host(make_ssh(tmp_path), "closed")
    told, done = run_commands(
        [Command(("/bin/echo", "done"), HERE.name)],
        {HERE.name: HERE, far.name: far},
        timeout_s=LONG_S,
        watchers=counters.commands([far]),
    )
    assert done.stdout == b"done\n"
    watch = counters.parse(told)
    assert (watch.host, watch.readings) == ("closed", ())
    assert "could not be made" in watch.problems["collector"]


def test_what_is_gone_is_said_and_missing_from_then_on() -> None:
    collector: Any = object.__new__(Collector)
    collector.said = {}
    told: dict[str, Any] = {}
    for values in ({"eth0": {"rx": 5}, "lo": {"rx": 1}}, {"lo": {"rx": 2}}, {"eth0": {"rx": 0}, "lo": {"rx": 2}}):
        told = parsing._merged(told, collector.news("interfaces", values))
        assert told == values


def test_a_program_that_writes_over_its_environment_stays_the_jobs(tmp_path: Path) -> None:
    """A look before, and one after the process became a program with an empty environment."""
    script = (
        counters.program()
        + """
import subprocess, sys
held = "import os, sys; sys.stdin.readline(); os.execve('/bin/sleep', ['sleep', '30'], {})"
looked = Processes("ours", {})
child = subprocess.Popen(
    [sys.executable, "-c", held], stdin=subprocess.PIPE, env={"FABRISCOPE_LAUNCH_MARK": "ours.1"}
)
while not (looked.look(time.monotonic(), True) or child.pid in looked.of_job):
    time.sleep(0.01)
child.stdin.write(b"go\\n")
child.stdin.flush()
while os.path.basename(os.readlink("/proc/%d/exe" % child.pid)).startswith("python"):
    time.sleep(0.01)
looked.identify(looked.of_job[child.pid])
one = looked.of_job[child.pid]
print("told", one.is_of_job, one.is_marked)
child.kill()
child.wait()
"""
    )
    file = tmp_path / "look.py"
    file.write_text(script)
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=60, check=False)
    assert "told True True" in done.stdout, done.stderr


BRIDGE = "ip link add b0 type bridge && ip link add v0 type veth peer name v1 && ip link set v0 master b0"
END = "ip link add d0 type veth peer name d1 && ip address add 10.0.0.1/24 dev d0 && "
BOUND = END + "ip link add x0 type vxlan id 5 remote 10.0.0.2 dev d0 dstport 4789"
FROM = END + "ip link add x0 type vxlan id 5 remote 10.0.0.2 local 10.0.0.1 dstport 4789"


@pytest.mark.parametrize(
    ("commands_text", "beneath"),
    [(BRIDGE, {"b0": ["v0"]}), (BOUND, {"x0": ["d0"]}), (FROM, {"x0": ["d0"]})],
    ids=["a bridge", "VXLAN bound to it", "VXLAN from its address"],
)
def test_the_kernel_tells_which_interface_is_beneath_another(
    tmp_path: Path, commands_text: str, beneath: dict[str, list[str]]
) -> None:
    file = tmp_path / "links.py"
    words = "lower_interfaces(interface_addresses())"
    file.write_text(counters.program() + f"\nprint('told', json.dumps({words}))\n")
    argv = ["unshare", "-rn", "sh", "-c", f"({commands_text}) && exec {sys.executable} {file}"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False)
    if "told" not in done.stdout:
        pytest.skip(f"no namespace with such an interface can be made here: {done.stderr.strip()}")
    assert json.loads(done.stdout.partition("told ")[2]) == beneath
