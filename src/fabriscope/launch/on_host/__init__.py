"""What runs on hosts on our behalf beside a launch: plain Python 3.6 and its library, sent as text (`hosts/access`).

`guard` runs one program and ends it when we are gone, `relay` hands a small job on to many hosts and brings back their
answers, and `sweep` finds what a launch left behind.
"""

from __future__ import annotations

from pathlib import Path

from fabriscope.hosts.access import sent


def text_of(name: str) -> str:
    """Return the text of one of the files here."""
    return Path(__file__).with_name(f"{name}.py").read_text()


def program(names: tuple[str, ...], start: str, more: str = "") -> bytes:
    """Return what a host's Python reads first: files of this folder, more text, and the call that starts it all."""
    return sent.program([*map(text_of, names), more], start)
