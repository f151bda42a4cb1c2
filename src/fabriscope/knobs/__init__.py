"""Settings that a plan may change: of hosts, one file each, of MPI libraries, and of the lab's switch.

The registry finds the files that define `KNOB`. Nothing is changed here: a knob makes a `Change`, which goes through
the one door to a host, with its journal (hosts/access/changes.py). What cannot be read back is not set. Settings of
libraries are variables of launches, and change nothing that would have to be put back.
"""

from __future__ import annotations

from functools import cache

from fabriscope.knobs import library, switch
from fabriscope.knobs.knob import Knob, Reads
from fabriscope.model.mpi_settings import MPI_SETTINGS
from fabriscope.model.switch_settings import SWITCH_SETTINGS
from fabriscope.registry import discover

__all__ = ["Knob", "Reads", "knobs", "readers"]


@cache
def knobs() -> dict[str, Knob]:
    """Return every knob of hosts by its name."""
    return dict(sorted(discover("knobs", "KNOB").plugins.items()))


@cache
def readers() -> dict[str, Reads]:
    """Return the name of everything that a plan may set, to what reads its values."""
    of_hosts = {name: knob.value for name, knob in knobs().items()}
    of_switch = {name: switch.reader(one) for name, one in SWITCH_SETTINGS.items()}
    of_libraries = {name: library.reader(one) for name, one in MPI_SETTINGS.items()}
    return of_hosts | of_switch | of_libraries
