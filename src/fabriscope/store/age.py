"""Was a folder begun by a version that seals? All that earlier ones wrote is listed here, and nothing else was theirs.

Those versions are history: the lists never grow. Without digests nothing else tells a folder that never had any from
one whose seals were taken out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

_EACH = "*"
_MANIFEST: Mapping[tuple[str, ...], str] = {
    (): "format version run_id created_unix_ns fabriscope_version name seed lab plan paper cases entries fabrics mpi"
    " schedule hosts versions",
    (
        "plan",
    ): "version name description hosts ssh fabrics layers mpi placements intra_fabrics ranks ranks_per_host pairs"
    " arrangement instruments benchmarks launches budget case_timeout launcher submit control margin floor seed paper",
    ("plan", "fabrics", _EACH): "lab interface line_rate",
    ("plan", "benchmarks", _EACH): "sizes window in_flight_limit socket datatype reduction root timing pairing compute"
    " synchronization window_memory far_check",
    ("lab",): "hosts fabrics congestion_control",
    ("mpi", _EACH): "name kind version mpirun mpicxx env device bind",
    ("versions",): "python engine fabriscope",
}
_LINE = (
    "commands launch_id block entry_id status reason results started_unix_ns elapsed_ns details mishaps stand_ins"
    " fabric_counters samples"
)
_VERSION = 1
"""Of the format; whatever has another one was sealed from its first byte."""


def newer_part(contents: Mapping[str, object]) -> str:
    """Return which part of a manifest only versions that seal have written: `plan.counters`; nothing where none is."""
    if contents.get("version") != _VERSION:
        return "version"
    return next((f"{place}{name}" for place, _, name in newer_parts(contents)), "")


def newer_parts(contents: Mapping[str, object]) -> Iterator[tuple[str, dict[str, object], str]]:
    """Yield every such part: what stands before its name, what holds it, and its name."""
    for path, names in _MANIFEST.items():
        known = frozenset(names.split())
        for place, part in _parts(contents, path):
            newer = (name for name, value in part.items() if name not in known and (name, value) != ("sealed", False))
            yield from ((place, part, name) for name in newer)


def newer_field(line: Mapping[str, object]) -> str:
    """Return which field of a journal line only versions that seal have written; nothing where it has none."""
    known = frozenset(_LINE.split())
    return next((name for name in line if name not in known), "")


def must_be_sealed(contents: Mapping[str, object], lines: Iterable[Mapping[str, object]]) -> str:
    """Return where something stands that only versions that always seal have written; nothing where it is nowhere."""
    part = newer_part(contents)
    if part:
        return f"manifest.json, {part}"
    return next((f"journal.jsonl, {name}" for line in lines if (name := newer_field(line))), "")


def _parts(value: object, path: tuple[str, ...], place: str = "") -> Iterator[tuple[str, dict[str, object]]]:
    """Yield the objects at a path, with what stands before the names in them."""
    if not isinstance(value, dict):
        return
    if not path:
        yield place, value
        return
    for name in value if path[0] == _EACH else path[:1]:
        if name in value:
            yield from _parts(value[name], path[1:], f"{place}{name}.")
