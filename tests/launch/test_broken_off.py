"""A connection of the job's that is broken off has its counts, though the kernel forgets them as it breaks it off."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from tests import needs
from tests.launch.collectors import names_of_collector

from fabriscope.launch.job_group import JobGroup

LONG_S = 60.0
BREAKING = """
import json, socket, struct, sys
host, size = sys.argv[1], int(sys.argv[2])
listener = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
client = socket.create_connection(listener.getsockname()[:2])
served, _ = listener.accept()
client.sendall(bytes(size))
left = size
while left:
    left -= len(served.recv(left))
served.sendall(b"answer")
client.recv(6)
cookies = [int.from_bytes(one.getsockopt(socket.SOL_SOCKET, 57, 8), "little") for one in (client, served)]
ends = [*client.getsockname()[:2], *client.getpeername()[:2]]
client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
client.close()
print(json.dumps([cookies, ends]))
"""  # 57 is SO_COOKIE


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_its_ends_and_counts_are_kept(noted_group: JobGroup, host: str) -> None:
    if ":" in host:
        needs.ipv6()
    argv = noted_group.joining([sys.executable, "-c", BREAKING, host, "100000"])
    (client, served), ends = json.loads(subprocess.run(argv, capture_output=True, timeout=LONG_S, check=True).stdout)
    births = names_of_collector()["Births"](*(noted_group.noted or ()))
    assert births.end_of(client)[0] == ends
    sent, received, _, _, again = births.end_of(client)[1]
    assert (sent, received) == (100_000, 6)
    assert again < 100_000
    assert births.end_of(served)[1][:2] == [6, 100_000]
    assert births.end_of(client + 1_000_000) is None
