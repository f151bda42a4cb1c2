"""fabriscope's NAS kernels against the reference's programs, which the user compiled: launch for launch, on this host.

    python -m benchmarks.against_npb FOLDER [--mpi mpich] [--rounds 11] [-o out.json]   # FOLDER has ep.W.x, is.A.x ...

In each round every kernel is launched once of each program, one right after the other; which one is first changes from
launch to launch. Both must be compiled with the MPI library that starts them; ours is, here. EP, IS, CG, FT and MG run
with two ranks in classes W and A, BT with four in class W. Printed are the median rates in Mop/s, and the mean log
ratio of the rounds with its 95 % interval (Student's t), as a ratio. The exit status is 0 where no interval lies below
what is promised (1.0 of the reference's rate, BT 0.9), 1 if one does, and 3 if the machine was busy before the start.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._peers_report import MOST_LOAD, load
from benchmarks._peers_values import ratio_interval

from fabriscope import engine_binary
from fabriscope.hosts import mpi
from fabriscope.model.errors import FabriscopeError, LaunchError
from fabriscope.readers import npb

TIMEOUT_S = 600
BUSY_STATUS = 3
PROGRAMS = ("ours", "reference")


@dataclass
class Row:
    """One kernel, and the rates of both programs in each round, in operations a second."""

    kernel: str
    problem_class: str
    ranks: int
    promised: float = 1.0
    rates: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in PROGRAMS})

    def ratios(self) -> list[float]:
        """Return ours over the reference's, by rounds."""
        return [ours / reference for ours, reference in zip(*(self.rates[name] for name in PROGRAMS), strict=True)]

    def text(self) -> str:
        """Return the row of the table."""
        ours, reference = (f"{statistics.median(self.rates[name]) / 1e6:.0f}" for name in PROGRAMS)
        ratio = math.exp(statistics.mean(math.log(value) for value in self.ratios()))
        low, high = ratio_interval(self.ratios())
        name = f"{self.kernel.upper()} | {self.problem_class}"
        return f"| {name} | {ours} | {reference} | {ratio:.2f} ({low:.2f} to {high:.2f}) |"

    def is_kept(self) -> bool:
        """Return whether the rounds allow what is promised."""
        return ratio_interval(self.ratios())[1] >= self.promised


def rate_of(mpirun: str, ranks: int, program: Sequence[str]) -> float:
    """Return the operations a second of one launch; raises LaunchError without one verified result of all its ranks.

    Programs of another MPI library than the launcher's are launches of one rank each.
    """
    argv = [mpirun, "-n", str(ranks), *program]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    rows = npb.READER.read(done.stdout).rows() if done.returncode == 0 else []
    verified = [row for row in rows if row.values["verification"] == npb.VERIFIED]
    if [row.number("process_count") for row in verified] != [ranks]:
        said = (done.stderr or done.stdout).strip()[-300:] or "nothing"
        raise LaunchError(f"no one verified result of {ranks} ranks: {said}", where=" ".join(argv))
    return rows[0].number("operation_rate_per_s")


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the reference's programs")
    parser.add_argument("--mpi", default="mpich", help="the library that both are compiled with")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("-o", "--output", type=Path, help="every rate, as JSON")
    asked = parser.parse_args()
    before = load()
    stack = mpi.find(asked.mpi)
    ours = str(engine_binary.build_npb(stack))
    rows = [Row(kernel, letter, 2) for kernel in ("ep", "is", "cg", "ft", "mg") for letter in "WA"]
    rows.append(Row("bt", "W", 4, promised=0.9))
    for number in range(asked.rounds):
        for place, row in enumerate(rows):
            reference = str(asked.folder / f"{row.kernel}.{row.problem_class}.x")
            words = {"ours": [ours, row.kernel, row.problem_class], "reference": [reference]}
            for name in PROGRAMS if (number + place) % 2 == 0 else PROGRAMS[::-1]:
                row.rates[name].append(rate_of(stack.mpirun, row.ranks, words[name]))
        print(f"round {number + 1} of {asked.rounds}", file=sys.stderr)
    print(f"{stack.name}, {asked.rounds} rounds, a load of {before:.1f} before the start\n")
    print("| kernel | class | ours | reference | ratio |\n|---|---|---|---|---|")
    print("\n".join(row.text() for row in rows))
    if asked.output is not None:
        asked.output.write_text(json.dumps([vars(row) for row in rows]))
    if before > MOST_LOAD:
        return BUSY_STATUS
    return 0 if all(row.is_kept() for row in rows) else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except FabriscopeError as error:
        sys.exit(f"against_npb: {error}")
