"""What a job's sockets move beside TCP is counted by the kernel, by interface, apart from everybody else's."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys

import pytest
from tests import needs
from tests.launch.collectors import names_of_collector

from fabriscope.launch import job_group
from fabriscope.launch.job_group import JobGroup

LONG_S = 60.0
SENDING = """
import socket, sys
family, size, count, options = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
place = ("127.0.0.1", int(sys.argv[5])) if family == socket.AF_INET else ("::1", int(sys.argv[5]))
with socket.socket(family, socket.SOCK_DGRAM) as one:
    if options:
        one.setsockopt(socket.IPPROTO_IP, socket.IP_OPTIONS, bytes([1]) * options)
    for _ in range(count):
        one.sendto(bytes(size), place)
"""
TALKING = """
import socket
listener = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(listener.getsockname())
served, _ = listener.accept()
client.sendall(bytes(100_000))
client.close()
while served.recv(65536):
    pass
"""


@pytest.fixture
def group(noted_group: JobGroup) -> JobGroup:
    if noted_group.datagrams is None:
        pytest.skip(needs.NO_COUNTS)
    return noted_group


def moved(group: JobGroup) -> dict[str, list[int]]:
    names = names_of_collector()
    assert names["Moved"](0).counts({}) is None
    found: dict[str, list[int]] = names["Moved"](group.datagrams).counts(dict(socket.if_nameindex()))
    return found


def send(group: JobGroup | None, family: int, size: int, count: int, options: int = 0, port: int = 9) -> None:
    argv = [sys.executable, "-c", SENDING, *(str(one) for one in (int(family), size, count, options, port))]
    subprocess.run(group.joining(argv) if group else argv, timeout=LONG_S, check=True)


def test_the_jobs_are_counted_and_nobody_elses(group: JobGroup) -> None:
    send(None, socket.AF_INET, 700, 50)
    assert moved(group) == {}
    send(group, socket.AF_INET, 1000, 20)
    send(None, socket.AF_INET, 700, 50)
    assert moved(group) == {"lo": [20, 20_000, 0, 0, 0, 0]}


@pytest.mark.parametrize("options", [4, 40])
def test_options_of_the_header_are_told_apart_from_what_was_sent(group: JobGroup, options: int) -> None:
    send(group, socket.AF_INET, 10, 3, options)
    assert moved(group)["lo"][:3] == [3, 30, 3 * options]


def test_those_of_ipv6_and_what_came_in(group: JobGroup) -> None:
    if not socket.has_ipv6:
        pytest.skip(needs.NO_IPV6)
    receiving = "import socket\none = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)\none.bind(('::1', 0))\n"
    receiving += "print(one.getsockname()[1], flush=True)\none.recv(9000)\none.recv(9000)"
    argv = group.joining([sys.executable, "-c", receiving])
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as receiver:
        assert receiver.stdout is not None
        send(None, socket.AF_INET6, 3000, 2, port=int(receiver.stdout.readline()))
        assert receiver.wait(LONG_S) == 0
    assert moved(group)["lo"] == [0, 0, 0, 2, 6000, 0]


def test_connections_are_no_part_of_it(group: JobGroup) -> None:
    subprocess.run(group.joining([sys.executable, "-c", TALKING]), timeout=LONG_S, check=True)
    assert moved(group) == {}


def test_launches_that_are_measured_pay_nothing_for_it() -> None:
    made = job_group.make(secrets.token_hex(8))
    if made is not None:
        made.remove()
        assert made.datagrams is None
        assert made.words.split()[4] == "0"
