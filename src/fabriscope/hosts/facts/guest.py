"""What a guest of the lab was given of the machine, as it was told at its boot."""

from __future__ import annotations

from fabriscope.hosts.access import Reading
from fabriscope.hosts.facts._reading import Group
from fabriscope.model.host import Fact

CPU_SHARE = "/run/fabriscope-cpu-share"


def _facts(reading: Reading) -> list[Fact]:
    share = reading.files.get(CPU_SHARE)
    return [] if share is None else [Fact("guest.cpu_share", f"{float(share):.3g} of one processor's time")]


FACTS = Group("guest", _facts, globs=(CPU_SHARE,))
