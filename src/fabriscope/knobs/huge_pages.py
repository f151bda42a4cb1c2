"""Whether the kernel makes huge pages of memory by itself."""

from __future__ import annotations

from fabriscope.knobs.knob import of_file, one_of

KNOB = of_file(
    "huge_pages",
    "transparent huge pages: always, madvise or never",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    one_of("always", "madvise", "never"),
    "machine",
    "memory.transparent_huge_pages",
)
