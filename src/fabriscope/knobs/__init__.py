"""Settings of hosts that a plan may change, one file each: how one is read, set and put back.

The registry finds those that define `KNOB`. Nothing is changed here: a knob makes a `Change`, which goes through the
one door to a host, with its journal (hosts/access/changes.py). What cannot be read back is not set.
"""

from __future__ import annotations

from functools import cache

from fabriscope.knobs.knob import Knob
from fabriscope.registry import discover

__all__ = ["Knob", "knobs"]


@cache
def knobs() -> dict[str, Knob]:
    """Return every knob by its name."""
    return dict(sorted(discover("knobs", "KNOB").plugins.items()))
