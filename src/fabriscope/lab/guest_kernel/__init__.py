"""The kernel of guests: built from Debian's source of Linux, changed where it must be, and kept by content.

What makes a kernel is its recipe (configuration and changes, both here) and the source and compiler that it was built
from; all of them name its folder in the cache, so an upgraded source gets a kernel of its own.
"""

from fabriscope.lab.guest_kernel.build import build
from fabriscope.lab.guest_kernel.kept import Kernel, find, kept_kernels, recipe
from fabriscope.lab.guest_kernel.source import missing_programs

__all__ = ["Kernel", "build", "find", "kept_kernels", "missing_programs", "recipe"]
