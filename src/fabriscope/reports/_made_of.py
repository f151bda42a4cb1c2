"""What a report says of the data that it was made of, so that it can be made again and compared."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from fabriscope import __version__
from fabriscope.model.run_data import RunData

_LINE = re.compile(
    r"Made by fabriscope (?P<fabriscope>\S+) of run (?P<run_id>\S+): "
    r"(?P<launches>\d+) launches, digest (?P<digest>\S+)\."
)


@dataclass(frozen=True)
class MadeOf:
    """Which run it is, how many launches it had, and the digest of all of them."""

    fabriscope: str
    run_id: str | None
    launches: int
    """Each attempt at a launch counts as one: as many lines of the journal."""
    digest: str | None
    """None in older folders."""


@dataclass(frozen=True)
class Stated:
    """What a report states of itself; anybody may have changed it, and what cannot be read is None."""

    fabriscope: str | None = None
    launches: int | None = None
    digest: str | None = None
    run_path: str | None = None
    """Where the run lay, of a page."""
    library_sha256: str | None = None
    """Of a page's script library."""


_TEXTS = ("fabriscope", "digest", "run_path", "library_sha256")


def made_of(run: RunData) -> MadeOf:
    """Return what a report of a run is made of."""
    return MadeOf(__version__, run.manifest.run_id, len(run.lines), run.lines[-1].chain if run.lines else None)


def made_of_json(run: RunData, run_path: str, library_sha256: str) -> str:
    """Return it for a page, with where the run lay and the digest of the page's script library."""
    stated = {**vars(made_of(run)), "run_path": run_path, "library_sha256": library_sha256}
    return json.dumps(stated, allow_nan=False).replace("<", "\\u003c")


def made_of_line(run: RunData) -> str:
    """Return it as a sentence."""
    stated = made_of(run)
    return (
        f"Made by fabriscope {stated.fabriscope} of run {stated.run_id}: {stated.launches} launches, "
        f"digest {stated.digest}."
    )


def read_line(text: str) -> Stated | None:
    """Return what such a sentence says; None where there is none."""
    match = _LINE.search(text)
    return None if match is None else Stated(match["fabriscope"], int(match["launches"]), match["digest"])


def read_json(value: object) -> Stated | None:
    """Return what a page's or a table's statement says, as it was parsed; None for what is none."""
    if not isinstance(value, dict):
        return None
    texts = {name: value[name] for name in _TEXTS if isinstance(value.get(name), str)}
    launches = value.get("launches")
    return Stated(launches=launches if isinstance(launches, int) else None, **texts)


def launches_meant(run: RunData, stated: Stated | None) -> int:
    """Return of how many launches a report was made: by the digest, or else by the number that it states."""
    if stated is None:
        return len(run.lines)
    chains = [line.chain for line in run.lines]
    if stated.digest is not None and stated.digest in chains:
        return chains.index(stated.digest) + 1
    count = stated.launches
    return min(count, len(run.lines)) if count is not None and count >= 0 else len(run.lines)
