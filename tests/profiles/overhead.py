"""What being counted costs a ping-pong of 8 bytes between two ranks of this host.

In one job, bursts of 50 round trips by the MPI library's own functions and by those that count take turns, so that both
meet the same machine.

python -m tests.profiles.overhead --mpi openmpi --bursts 20000
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from tests.profiles.program_of import compiled, environment, launch

from fabriscope import engine_binary
from fabriscope.analysis.numbers.medians import median_with_interval
from fabriscope.hosts import mpi
from fabriscope.model import profile_file


def main() -> None:
    """Measure, and print one line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mpi", default="openmpi")
    parser.add_argument("--bursts", type=int, default=20_000)
    asked = parser.parse_args()
    stack = mpi.find(asked.mpi)
    library = str(engine_binary.build_profiler(stack))
    with tempfile.TemporaryDirectory() as folder:
        command = launch(stack, [compiled(stack, Path(folder)), "overhead", str(asked.bursts)], 2)
        env = {**environment(stack), **command.env, "LD_PRELOAD": library, "FABRISCOPE_PROFILE": folder}
        done = subprocess.run(command.argv, env=env, capture_output=True, text=True, timeout=500, check=True)
        pairs = [tuple(map(float, line.split())) for line in done.stdout.splitlines()]
        files = [one for path in Path(folder).glob("*.profile") for one in profile_file.read(path.read_bytes(), "x")]
    ratio = median_with_interval([counted / plain for plain, counted in pairs], "fixed")
    more = median_with_interval([counted - plain for plain, counted in pairs], "fixed")
    own = median(one.about.cost_ns for one in files)
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    sys.stdout.write(
        f"{stack.name}: half a round trip of 8 B {median(plain for plain, _ in pairs):.0f} ns;"
        f" counted {ratio[0]:.4f} times ({ratio[1]:.4f} to {ratio[2]:.4f}),"
        f" {more[0]:.1f} ns more ({more[1]:.1f} to {more[2]:.1f}); by its own trial {own:.0f} ns a call; load {load}\n"
    )


if __name__ == "__main__":
    main()
