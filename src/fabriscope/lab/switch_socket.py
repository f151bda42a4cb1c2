"""A question to the lab's switch, and its answer."""

from __future__ import annotations

import socket
import time
from pathlib import Path

PAUSE_S = 0.02


def ask(path: Path, request: str, timeout_s: float) -> bytes:
    """Return what the switch answers; raises OSError where it does not, in time or at all.

    It waits for a request for a tenth of a second, so as not to let frames wait. Who gets no processor between
    connecting and asking finds the door closed, and knocks again: the switch is well.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            if text := _asked(path, request, max(PAUSE_S, deadline - time.monotonic())):
                return text
            problem: OSError = ConnectionResetError("it ended the connection without an answer")
        except (BrokenPipeError, ConnectionResetError) as error:
            problem = error
        if time.monotonic() > deadline:
            raise problem
        time.sleep(PAUSE_S)


def _asked(path: Path, request: str, timeout_s: float) -> bytes:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(timeout_s)
        connection.connect(str(path))
        connection.sendall(request.encode() + b"\n")
        return connection.makefile("rb").read()
