"""Forward error correction, where it is asked for: a line of each port, and what stood there before."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fabriscope.configure.step import Step, filled

KINDS = ("rs", "fc", "off")
"""Reed-Solomon, Fire code (BASE-R), none."""
NXOS = {"rs": "fec rs-fec", "fc": "fec fc-fec", "off": "fec off"}
TOUCHES = "the link goes down for a moment, and stays down unless the other end corrects errors alike"


def of_port(
    kind: str, port: str, lines: Sequence[str], words: Mapping[str, str], pattern: str, undone: str
) -> Iterator[Step]:
    """Yield what gives a port the FEC that is wanted, if any is and the last line of this pattern is another one."""
    if not kind:
        return
    standing = [line for line in lines if re.fullmatch(pattern, line)]
    if standing[-1:] == [words[kind]]:
        return
    undo = standing[-1] if standing else undone
    yield Step(f"FEC of {port}", (words[kind],), (undo,), (f"interface {port}",), touches=TOUCHES)


def of_command(
    kind: str, port: str, words: str, names: Mapping[str, str], now: str | None, undone: str
) -> Iterator[Step]:
    """Yield likewise where one command sets it; `now` is what it is called there, None where nobody says."""
    if not kind or now == names[kind]:
        return
    undo = filled(words, port, fec=now) if now is not None else filled(undone, port)
    yield Step(f"FEC of {port}", (filled(words, port, fec=names[kind]),), (undo,), touches=TOUCHES)
