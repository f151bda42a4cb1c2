"""What runs on hosts on our behalf: plain Python 3.6 and its library; sent as text on standard input, never installed.

`guard` runs one program and ends it when we are gone, `relay` hands a small job on to many hosts and brings back their
answers; both read their `orders` from standard input, and `sweep` finds what a launch left behind.
"""

from __future__ import annotations

from pathlib import Path

BEGIN = b"\x1e"
"""Stands before what our own programs say: a login shell may greet before them."""

PYTHON_WORDS = ("python3", "-I", "-S", "-c", 'T=open(0,"rb",0,closefd=False).readline();exec(eval(T))')
"""Starts a program whose text is the first line of its standard input."""


def text_of(name: str) -> str:
    """Return the text of one of the files here."""
    return Path(__file__).with_name(f"{name}.py").read_text()


def program_line(names: tuple[str, ...], start: str, more: str = "") -> bytes:
    """Return the line that `PYTHON_WORDS` reads: files of this folder, more text, and the call that starts it all."""
    return ascii("\n".join([*map(text_of, names), more, start, ""])).encode() + b"\n"
