"""Whether the kernel makes huge pages of memory by itself."""

from __future__ import annotations

from fabriscope.knobs.knob import of_file, word

KNOB = of_file(
    "huge_pages",
    "transparent huge pages: always, madvise or never",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    word,
    "machine",
    "memory.transparent_huge_pages",
)
