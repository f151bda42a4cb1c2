"""What a report says of the data that it was made of, so that it can be made again and compared."""

from __future__ import annotations

import json
import re
from typing import Any

from fabriscope import __version__
from fabriscope.model.run_data import RunData

_LINE = re.compile(
    r"Made by fabriscope (?P<fabriscope>\S+) of run (?P<run_id>\S+): "
    r"(?P<launches>\d+) launches, digest (?P<digest>\S+)\."
)


def made_of(run: RunData) -> dict[str, Any]:
    """Return which run it is, how many launches it had, and the digest of all of them (null in older folders).

    Each attempt at a launch counts as one: as many lines of the journal.
    """
    return {
        "fabriscope": __version__,
        "run_id": run.manifest.run_id,
        "launches": len(run.lines),
        "digest": run.lines[-1].chain if run.lines else None,
    }


def made_of_json(run: RunData, run_path: str, library_sha256: str) -> str:
    """Return it for a page, with where the run lay and the digest of the page's script library."""
    stated = {**made_of(run), "run_path": run_path, "library_sha256": library_sha256}
    return json.dumps(stated, allow_nan=False).replace("<", "\\u003c")


def made_of_line(run: RunData) -> str:
    """Return it as a sentence."""
    stated = made_of(run)
    return (
        f"Made by fabriscope {stated['fabriscope']} of run {stated['run_id']}: {stated['launches']} launches, "
        f"digest {stated['digest']}."
    )


def read_line(text: str) -> dict[str, Any] | None:
    """Return what such a sentence says; None where there is none."""
    match = _LINE.search(text)
    return None if match is None else {**match.groupdict(), "launches": int(match["launches"])}


def launches_meant(run: RunData, stated: dict[str, Any] | None) -> int:
    """Return of how many launches a report was made: by the digest, or else by the number that it states."""
    if stated is None:
        return len(run.lines)
    chains = [line.chain for line in run.lines]
    digest = stated.get("digest")
    if digest in chains and digest not in (None, "None"):
        return chains.index(digest) + 1
    count = stated.get("launches")
    return min(count, len(run.lines)) if isinstance(count, int) and count >= 0 else len(run.lines)
