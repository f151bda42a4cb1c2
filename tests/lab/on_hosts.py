"""What tests do on the hosts of a lab."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

from fabriscope.lab import Lab

COMMAND_TIMEOUT_S = 30.0
MakeLab = Callable[..., Lab]

# argv: address, count, payload bytes. Prints how many datagrams came, in the order in which they were sent.
RECEIVER = """
import socket, sys
address, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inbox.bind((address, 7000))
inbox.settimeout(10)
print("ready", flush=True)
came = 0
while came < count:
    data = inbox.recv(65536)
    assert data == came.to_bytes(2, "big") * (size // 2), came
    came += 1
print(came)
"""
# argv: address, count, payload bytes.
SENDER = """
import socket, sys
address, count, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
outbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(count):
    outbox.sendto(number.to_bytes(2, "big") * (size // 2), (address, 7000))
"""


def on(place: Lab, host: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a host to its end."""
    argv = [*place.host(host).access, *words]
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False
    )


def python(place: Lab, host: str, script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a Python script on a host to its end."""
    return on(place, host, sys.executable, "-I", "-c", script, *map(str, arguments))


def exchange(place: Lab, sender: str, receiver: str, interface: str, count: int = 20, size_bytes: int = 1400) -> None:
    """Send datagrams from host to host; every one arrives whole and in order, or the test fails."""
    address = place.host(receiver).addresses[interface]
    words = [*map(str, (address, count, size_bytes))]
    argv = [*place.host(receiver).access, sys.executable, "-I", "-c", RECEIVER, *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n", process.communicate(timeout=COMMAND_TIMEOUT_S)
        sent = python(place, sender, SENDER, *words)
        assert sent.returncode == 0, sent.stderr
        out, err = process.communicate(timeout=COMMAND_TIMEOUT_S)
    assert out == f"{count}\n", err


def leave_sleeping(place: Lab, host: str) -> None:
    """Leave a process behind on a host."""
    assert on(place, host, "sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &").returncode == 0
