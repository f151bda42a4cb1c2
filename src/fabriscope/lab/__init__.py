"""A small cluster made out of one machine: hosts out of namespaces, fabrics out of an emulated switch."""

from fabriscope.lab.lab import Lab, find, up
from fabriscope.lab.state import recorded, remove_left_overs

__all__ = ["Lab", "find", "recorded", "remove_left_overs", "up"]
