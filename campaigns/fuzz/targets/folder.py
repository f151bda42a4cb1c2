"""Run folders of an older version, without digests, of which the manifest and the journal are changed.

The readers alone must hold there. `show` is what reads all of a run: the record, the analysis and the tables.
"""

from __future__ import annotations

import atexit
import functools
import shutil
import tempfile
from pathlib import Path

from campaigns.damaged_folders import __main__ as damaged_folders
from campaigns.fuzz.targets import Target
from click.testing import CliRunner

from fabriscope.cli.show import COMMAND as SHOW

MARK = b"\n#### journal.jsonl ####\n"
"""Between the manifest and the journal, in one text."""


@functools.cache
def _run() -> Path:
    place = Path(tempfile.mkdtemp(prefix="fuzzed-folder-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    run = damaged_folders.make_folder(place)
    damaged_folders.strip_seals(run)
    return run


@functools.cache
def _seed() -> bytes:
    run = _run()
    text = (run / "manifest.json").read_bytes() + MARK + (run / "journal.jsonl").read_bytes()
    assert check(text), "the folder as it was written is not shown"
    return text


def check(text: bytes) -> bool:
    """Show the folder; return whether that succeeded. Raises what `show` raised."""
    manifest, _, journal = text.partition(MARK)
    run = _run()
    (run / "manifest.json").write_bytes(manifest)
    (run / "journal.jsonl").write_bytes(journal)
    ended = CliRunner().invoke(SHOW, [str(run)])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.exit_code == 0


TARGETS = (Target("folder", lambda: [_seed()], check),)
