"""What every process of a launch said, as it said it: files of the run folder."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from fabriscope.model.command import Outcome
from fabriscope.model.record import FileDigests
from fabriscope.store import marks, seal
from fabriscope.store.files import RAW_NAME, pack, write_whole


def write(run: Path, launch_name: str, raw: Sequence[Outcome]) -> dict[str, FileDigests]:
    """Write what every process said; return the digests of the files."""
    folder = run / RAW_NAME / launch_name
    if folder.exists():  # left by an attempt that ended before its journal line
        shutil.rmtree(folder)
    digests: dict[str, FileDigests] = {}
    if not raw:
        return digests
    folder.mkdir(parents=True, exist_ok=True)
    for number, outcome in enumerate(raw):
        host = re.sub(r"[^A-Za-z0-9._-]", "_", outcome.command.host) or "host"
        for stream, content in (("stdout", outcome.stdout), ("stderr", outcome.stderr)):
            name = f"{number}-{host}.{stream}.gz"
            packed = pack(content)
            write_whole(folder / name, packed)
            about = FileDigests(seal.sha256(packed), marks.mark_lines(content))
            digests[f"{RAW_NAME}/{folder.name}/{name}"] = about
    return digests
