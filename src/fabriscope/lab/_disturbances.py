"""Why a measurement may be wrong though the lab is right: other programs, and a switch that was held up."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fabriscope.lab.lab import Lab

MAX_FOREIGN_SHARE = 0.10
"""Of the machine's processors."""
MAX_LATE_SHARE = 0.01
"""Of all frames."""


class Others:
    """How much of the machine other programs use from now on."""

    def __init__(self) -> None:
        self._tick_s = 1 / os.sysconf("SC_CLK_TCK")
        self._start_s, self._busy_s, self._own_s = time.monotonic(), self._busy(), self._own()
        self._namespace: Path | None = None

    def watch(self, lab: Lab) -> None:
        """Count the lab's processes as our own."""
        self._namespace = Path(f"/proc/{lab.state.keeper.pid}/ns/pid").readlink()

    def disturbances(self) -> Iterator[str]:
        """Yield one sentence if others used too much."""
        foreign_s = (self._busy() - self._busy_s) - (self._own() - self._own_s + self._labs())
        share = foreign_s / (time.monotonic() - self._start_s) / (os.cpu_count() or 1)
        if share > MAX_FOREIGN_SHARE:
            yield f"other programs used {share:.0%} of the processors"

    def _busy(self) -> float:
        user, nice, system, _, _, irq, softirq, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
        return (user + nice + system + irq + softirq + steal) * self._tick_s

    def _own(self) -> float:
        return sum(os.times()[:4])

    def _labs(self) -> float:
        total_s = 0.0
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if (folder / "ns/pid").readlink() == self._namespace:
                    fields = (folder / "stat").read_text().rpartition(")")[2].split()
                    total_s += (int(fields[11]) + int(fields[12])) * self._tick_s
            except OSError:
                continue  # it ended
        return total_s


def lateness(lab: Lab) -> Iterator[str]:
    """Yield one sentence if the switch could not keep its own times."""
    total: Counter[str] = Counter()
    for port in lab.counters().get("ports", []):
        total.update({"frames": port["down"]["frames"], "late": port["late_frames"]})
    if total["late"] > MAX_LATE_SHARE * total["frames"]:
        share = total["late"] / total["frames"]
        yield f"the switch handed {share:.1%} of all frames over more than 20 µs late"
