"""How long the inventory of many hosts over ssh takes, and the audit of a thousand made-up ones.

usage: python -m campaigns.inventory [--hosts 64] [--made-up 1000]

The hosts are those of a lab, each with a real sshd, all on this machine's processors; `fabriscope inventory` is a
process of its own on the lab's head, with its start and its table. The made-up hosts are those of the audit's tests, on
two switches: on a hundredth of them something is wrong. Needs root and openssh-server, and about 5 MB for each host.
Ends with 1 where the inventory takes over 10 s or the audit over 5 s, or where either lacks something.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.audit.made_up import scene
from tests.ssh.cluster import HEAD, cluster

from fabriscope.audit import auditing
from fabriscope.audit.scene import Scene

MOST_INVENTORY_S, MOST_AUDIT_S = 10.0, 5.0
LONG_S = 300.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--hosts", type=int, default=64)
    parser.add_argument("--made-up", type=int, default=1000)
    arguments = parser.parse_args()
    inventory_s = inventory(arguments.hosts)
    audit_s = audit(arguments.made_up)
    raise SystemExit(1 if inventory_s > MOST_INVENTORY_S or audit_s > MOST_AUDIT_S else 0)


def inventory(count: int) -> float:
    """Return how long the inventory of that many hosts takes."""
    names = [f"node{number}" for number in range(1, count + 1)]
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), names, {}) as one:
        words = ("inventory", "--hosts", f"node[1-{count}]", "--ssh", one.ssh, "--format", "json")
        argv = one.argv(HEAD, sys.executable, "-m", "fabriscope", *words)
        started_s = time.monotonic()
        done = subprocess.run(argv, capture_output=True, text=True, timeout=LONG_S, check=False)
        took_s = time.monotonic() - started_s
    if done.returncode != 0:
        sys.exit(done.stderr)
    told = json.loads(done.stdout)
    facts = [len(known) for known in told.get("hosts", told).values()]
    print(
        f"inventory of {len(facts)} hosts over ssh: {took_s:.1f} s, {min(facts)} facts of each, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    if len(facts) != count:
        sys.exit(f"{count - len(facts)} hosts are missing")
    return took_s


def audit(count: int) -> float:
    """Return how long the audit of that many hosts takes."""
    wrong = scene({"interface.eth0.mtu_bytes": 4200, "cpu.governor": "powersave"}, host_count=count)
    other = scene(host_count=count)
    odd = {f"node{at}": wrong.hosts["node2"] for at in range(0, count, 100)}
    made_up = Scene({**other.hosts, **odd}, other.devices)
    started_s, started_cpu_s = time.monotonic(), time.process_time()
    verdict = auditing.audit(made_up)
    took_s, cpu_s = time.monotonic() - started_s, time.process_time() - started_cpu_s
    found = {one.check for one in verdict.findings}
    print(
        f"audit of {count} made-up hosts by {len(auditing.checks())} checks: {took_s:.1f} s, {cpu_s:.1f} s of a "
        f"processor, {len(found)} found something"
    )
    if not {"mtu-hosts-agree", "governor", "governor-differs"} <= found:
        sys.exit(f"what is wrong was not found: {sorted(found)}")
    return took_s


if __name__ == "__main__":
    main()
