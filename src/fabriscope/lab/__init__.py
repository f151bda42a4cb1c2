"""A small cluster made out of one machine: hosts out of namespaces, fabrics out of an emulated switch."""

from fabriscope.lab.lab import Lab, find, up
from fabriscope.lab.state import is_of_gone_lab, recorded, remove_left_overs

__all__ = ["Lab", "find", "is_of_gone_lab", "recorded", "remove_left_overs", "up"]
