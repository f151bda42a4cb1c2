"""What runs on hosts on our behalf: plain Python 3.6 and its library; sent as text on standard input, never installed.

`guard` runs one program and ends it when we are gone, `relay` hands a small job on to many hosts and brings back their
answers; both read their `orders` from standard input, and `sweep` finds what a launch left behind.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fabriscope.launch.on_host.orders import PATIENCE_S
from fabriscope.model.foreign import BEGIN

_BOOTSTRAP = f'import signal;signal.alarm({PATIENCE_S});T=open(0,"rb",0,closefd=False).readline();exec(eval(T))'
PYTHON_WORDS = ("python3", "-I", "-S", "-c", _BOOTSTRAP)
"""Starts a program whose text comes on its standard input; the first line, read byte by byte, reads the rest.

What does not come within `PATIENCE_S` never will; reading the order (`orders.py`) takes the alarm back.
"""

_READ_AND_RUN = """
import os
P = b""
while len(P) < {size}:
    part = os.read(0, {size} - len(P))
    if not part:
        raise SystemExit("the program is not whole")
    P += part
exec(P)
"""


def text_of(name: str) -> str:
    """Return the text of one of the files here."""
    return Path(__file__).with_name(f"{name}.py").read_text()


def program(names: tuple[str, ...], start: str, more: str = "") -> bytes:
    """Return what `PYTHON_WORDS` reads first: files of this folder, more text, and the call that starts it all."""
    text = "\n".join([f"BEGIN = {BEGIN!r}", *map(text_of, names), more, start, ""]).encode()
    return ascii(_READ_AND_RUN.format(size=len(text))).encode() + b"\n" + text


def order(words: Mapping[str, Any], body: bytes = b"") -> bytes:
    """Return what a program reads next: what it is told to do, and a body (`orders.py` reads both)."""
    text = json.dumps({**words, "body_bytes": len(body)}).encode()
    return b"%010d" % len(text) + text + body
