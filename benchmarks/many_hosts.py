"""How long many hosts take to answer over ssh: a lab with a real sshd on every host, asked all at once.

usage: python -m benchmarks.many_hosts [HOSTS]

Every host shares this machine's processors, so that both ends of all handshakes are paid for here: on a cluster each
host pays for its own. Needs root and openssh-server, and about 5 MB for each host.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.ssh.cluster import HEAD, cluster

# argv: ssh, how many hosts are reached without relays, host names.
_ASK = """
import sys, time
started_s = time.monotonic()
from fabriscope import fleet
from fabriscope.launch import tree
from fabriscope.launch.ssh import Ssh
tree.FLAT_HOSTS = int(sys.argv[2])
words = tuple(sys.argv[1].split())
with fleet.connected(Ssh(words, words)) as opened:
    opened.look(sys.argv[3:])
    print(len(opened.seen), time.monotonic() - started_s, *list(opened.problems.items())[:3])
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    names = [f"node{number}" for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder:
        started_s = time.monotonic()
        with cluster(Path(folder), names, {}) as one:
            print(
                f"{count} hosts with sshd stand after {time.monotonic() - started_s:.1f} s, load {os.getloadavg()[0]}"
            )
            for how, flat_hosts in (("over relays", 1), ("all from here", count)):
                argv = [sys.executable, "-c", _ASK, one.ssh, str(flat_hosts), *names]
                done = subprocess.run(one.argv(HEAD, *argv), capture_output=True, text=True, timeout=300, check=False)
                answered, elapsed_s, *problems = done.stdout.split(maxsplit=2) or [done.stderr, "nan"]
                print(f"{how}: {answered} of {count} answered with all facts in {float(elapsed_s):.1f} s", *problems)


if __name__ == "__main__":
    main()
