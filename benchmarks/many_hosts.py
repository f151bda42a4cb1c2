"""How long many hosts take to answer over ssh: a lab with a real sshd on every host, asked all at once.

usage: python -m benchmarks.many_hosts [HOSTS]

Every host shares this machine's processors, so that both ends of all handshakes are paid for here: on a cluster each
host pays for its own. The processor time says what remains of that on a busy machine, too. The test's ssh takes the
key exchange curve25519-sha256: OpenSSH's default since 9.0, sntrup761, took three times the processor time of both ends
here. Needs root and openssh-server, and about 5 MB for each host.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.ssh.cluster import HEAD, Cluster, cluster

# argv: ssh, how many hosts are reached without relays, what is asked, host names.
_ASK = """
import sys, time
started_s = time.monotonic()
from fabriscope.running import fleet
from fabriscope.launch import tree
from fabriscope.launch.ssh import ControlFolder, Ssh
tree.FLAT_HOSTS = int(sys.argv[2])
words, names = tuple(sys.argv[1].split()), sys.argv[4:]
ssh = Ssh(words, words)
if sys.argv[3] == "started":
    with ControlFolder() as folder, tree.Tree(folder.of(ssh)) as jobs:
        answers = jobs.ask(names, "def answer(request, body):\\n    return 1\\n", None, is_first=True)
        print(sum(one.value == 1 for one in answers.values()), time.monotonic() - started_s)
else:
    with fleet.connected(ssh) as opened:
        opened.look(names)
        print(len(opened.seen), time.monotonic() - started_s)
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
            for what in ("started", "told all facts"):
                for how, flat_hosts in (("over relays", 1), ("all from here", count)):
                    _measure(one, names, what, how, flat_hosts)


def _measure(one: Cluster, names: list[str], what: str, how: str, flat_hosts: int) -> None:
    before_s = _processor_s(one)
    argv = [sys.executable, "-c", _ASK, one.ssh, str(flat_hosts), what, *names]
    done = subprocess.run(one.argv(HEAD, *argv), capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    answered, elapsed_s = done.stdout.split()
    used_s = _processor_s(one) - before_s
    print(f"{how}: {answered} of {len(names)} {what} in {float(elapsed_s):.1f} s, {used_s:.1f} s of processors")


def _processor_s(one: Cluster) -> float:
    """Return the processor time of the lab's processes and of what they, and we, have waited for."""
    namespace = Path(f"/proc/{one.lab.state.keeper.pid}/ns/pid").readlink()
    own = os.times()
    total_s = own.children_user + own.children_system
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "ns" / "pid").readlink() == namespace:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                total_s += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            continue  # it has ended
    return total_s


if __name__ == "__main__":
    main()
