"""What counting over time costs: a look of the lab's switch at its ports, and the hosts' collectors with and without.

    python -m campaigns.incast.sampling     # from the checkout's root, on a machine that does nothing else

The switch's looks are made by themselves, a hundred thousand of them, since there is no switch without; a collector is
let run on this machine beside a sender over the loopback interface, in turns with looks at it every 10 ms and without.
Shares are of one processor. Nothing asserts on speed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from fabriscope.hosts import counters
from fabriscope.launch.processes import run_commands
from fabriscope.model.command import Command
from fabriscope.model.host import Host

ROOT = Path(__file__).parents[2]
HERE = Host("here")
LOOKS_PER_S = 100
SENDER = """
import socket, sys, time
end, receiver = time.monotonic() + float(sys.argv[1]), socket.create_server(("127.0.0.1", 0))
sender = socket.create_connection(receiver.getsockname())
served, _ = receiver.accept()
while time.monotonic() < end:
    sender.sendall(bytes(10000))
    left = 10000
    while left:
        left -= len(served.recv(left))
    time.sleep(0.001)
"""


def of_switch(ports: int) -> float:
    """Return the share of a processor that the switch's looks take."""
    source = ROOT / "switch" / "src"
    texts = [str(Path(__file__).with_suffix(".cc")), str(source / "series.cc"), str(source / "fabric.cc")]
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "sampling")
        compiler = os.environ.get("CXX", "c++")
        subprocess.run([compiler, "-std=c++17", "-O2", f"-I{source}", "-o", program, *texts], check=True)
        said = subprocess.run([program, str(ports)], check=True, capture_output=True, text=True).stdout
    return float(said) * LOOKS_PER_S / 1e9


def of_collector(seconds: float, *, over_time: bool) -> tuple[float, int]:
    """Return the share of a processor that a collector takes, and how many periods it tells of."""
    devices = {HERE.name: {"interface": "lo"}} if over_time else None
    command = Command((sys.executable, "-I", "-c", SENDER, str(seconds)), HERE.name)
    watchers = counters.commands([HERE], devices=devices)
    told, done = run_commands([command], {HERE.name: HERE}, timeout_s=10 * seconds + 60, watchers=watchers)
    if done.exit_status != 0:
        raise SystemExit(done.stderr.decode(errors="replace"))
    watch = counters.parse(told)
    first, *readings = watch.readings
    took_ns = readings[-1].at_ns - first.at_ns
    periods = sum(len(series.at_unix_ns) for series in watch.series)
    return sum(reading.cost_ns for reading in readings) / took_ns, periods


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--ports", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--times", type=int, default=3)
    arguments = parser.parse_args()
    shares: dict[bool, list[float]] = {False: [], True: []}
    periods = 0
    for _ in range(arguments.times):
        for over_time, found in shares.items():
            share, periods = of_collector(arguments.seconds, over_time=over_time)
            found.append(share)
    told = {
        "load": os.getloadavg(),
        "switch_share": of_switch(arguments.ports),
        "collector_share": statistics.median(shares[False]),
        "collector_share_over_time": statistics.median(shares[True]),
        "periods_per_s": periods / arguments.seconds,
    }
    print(json.dumps(told, indent=1))


if __name__ == "__main__":
    main()
