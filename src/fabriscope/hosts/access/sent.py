"""Programs that come to a host as text on standard input: plain Python 3.6 and its library, never installed.

Each begins with `orders.py`, by which it reads what it is told to do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from fabriscope.hosts.access.orders import PATIENCE_S
from fabriscope.model.foreign import BEGIN

HEARTBEAT_S = 2.0
"""Between two words that say that we are still here."""
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


def program(texts: Iterable[str], start: str) -> bytes:
    """Return what `PYTHON_WORDS` reads first: the texts of a program, and the call that starts it all."""
    orders = Path(__file__).with_name("orders.py").read_text()
    text = "\n".join([f"BEGIN = {BEGIN!r}", orders, *texts, start, ""]).encode()
    return ascii(_READ_AND_RUN.format(size=len(text))).encode() + b"\n" + text


def order(words: Mapping[str, object], body: bytes = b"") -> bytes:
    """Return what a program reads next: what it is told to do, and a body (`orders.py` reads both)."""
    text = json.dumps({**words, "body_bytes": len(body)}).encode()
    return b"%010d" % len(text) + text + body
