"""The text of a plan's file, or of a file that a plan names: regular, of bounded size, without odd characters."""

from __future__ import annotations

import re
from pathlib import Path

from fabriscope.model import plain_files
from fabriscope.model.errors import PlanError

MAX_FILE_BYTES = 256 << 10
ODD_CHARACTER = re.compile(
    "[^\t\n\r\x20-\x7e\xa0-\u2027\u202f-\u2065\u206a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]"
)
"""What no plan needs and a terminal may obey: control characters, line separators, changes of direction, surrogates."""


def text_of(path: Path) -> str:
    """Return the text of a file; raises PlanError, at once and with its line where it has one, for what is no plan."""
    content = _content(path)
    try:
        text = content.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PlanError("the plan is no UTF-8 text", where=f"{path}:{line}", fix="save it as UTF-8") from error
    if (odd := ODD_CHARACTER.search(text)) is not None:
        line = text.count("\n", 0, odd.start()) + 1
        raise PlanError(
            f"there is the character U+{ord(odd[0]):04X}, which no plan can have",
            where=f"{path}:{line}",
            fix="remove it",
        )
    return text


def _content(path: Path) -> bytes:
    try:
        content = plain_files.read(path, MAX_FILE_BYTES)
    except OSError as error:
        raise _unreadable(path, plain_files.why(error)) from error
    if len(content) > MAX_FILE_BYTES:
        raise PlanError(
            f"the plan has more than {MAX_FILE_BYTES >> 10} KiB", where=str(path), fix="give a plan, or make two of it"
        )
    return content


def _unreadable(path: Path, why: str) -> PlanError:
    return PlanError(f"the plan cannot be read: {why}", where=str(path), fix="give the path of a plan file")
