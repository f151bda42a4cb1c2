"""The one door to a host: run a program there, send it a text that runs there, read its files, change a setting of it.

A host is this machine, or is entered by the words of `Host.access`: those of a lab, of ssh, of a Slurm job. What is
changed (`changes.py`) is journalled first and put back whatever ends us. For many hosts at once, see running/fleet.py.
"""

from __future__ import annotations

import functools
import json
import marshal
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from fabriscope.hosts.access.reading import Output, Reading, Wanted
from fabriscope.model.errors import HostError, ToolMissing
from fabriscope.model.foreign import BEGIN, Foreign
from fabriscope.model.host import Host

__all__ = [
    "READ_TIMEOUT_S", "Output", "Reading", "Wanted", "collector", "python_program", "python_words", "read", "run",
    "send", "words",
]  # fmt: skip

READ_TIMEOUT_S = 30.0
_COMPILED = "import marshal, sys; exec(marshal.load(sys.stdin.buffer)); exec(marshal.load(sys.stdin.buffer))"


def words(host: Host, argv: Sequence[str]) -> tuple[str, ...]:
    """Return the words that start a program on a host; a remote shell takes them as one line."""
    return (*host.access, shlex.join(argv)) if host.is_remote else (*host.access, *argv)


def python_words(host: Host, *program: str) -> tuple[str, ...]:
    """Return the words of a host's own Python, which runs a program, else what comes on its standard input."""
    return ("python3" if host.is_remote else sys.executable, "-I", "-S", *(program or ("-",)))


def python_program(host: Host, text: str, call: str) -> tuple[tuple[str, ...], bytes]:
    """Return the words of a host's Python, and what it reads: a text of plain Python 3.6, and a line that calls it.

    Our own Python, on this machine and in its labs, reads the text compiled, once for all that run it.
    """
    if host.is_remote:
        return python_words(host), f"{text}\n{call}\n".encode()
    return python_words(host, "-c", _COMPILED), _compiled(text) + _compiled(call)


@functools.lru_cache(maxsize=64)
def _compiled(text: str) -> bytes:
    return marshal.dumps(compile(text, "<stdin>", "exec", dont_inherit=True))


def run(host: Host, argv: Sequence[str], timeout_s: float, *, stdin: bytes = b"") -> Output:
    """Run a program on a host to its end; raises ToolMissing or HostError where it does not start or does not end."""
    started = words(host, argv)
    try:
        done = subprocess.run(
            started, input=stdin, capture_output=True, timeout=timeout_s, check=False, start_new_session=True
        )
    except subprocess.TimeoutExpired:
        raise HostError(f"it does not answer within {timeout_s:.0f} s", where=f"host {host.name}") from None
    except FileNotFoundError:
        raise ToolMissing(f"{started[0]} is not on this machine", where=f"host {host.name}") from None
    except OSError as error:
        what = f"{started[0]} cannot be started: {error.strerror}"
        raise HostError(what, where=f"host {host.name}") from error
    stdout, stderr = (text.decode("utf-8", "replace") for text in (done.stdout, done.stderr))
    return Output(done.returncode, stdout, stderr)


def send(host: Host, text: str, call: str, timeout_s: float) -> Foreign:
    """Send a text and a call of it, which the host's Python runs; return the JSON that it says last, behind BEGIN.

    Both are plain Python 3.6. Raises ToolMissing, HostError or ParseError.
    """
    argv, stdin = python_program(host, text, call)
    done = run(host, argv, timeout_s, stdin=stdin)
    if done.exit_status != 0:
        what = f"python3 ended with exit status {done.exit_status}: {done.last_words}"
        raise HostError(what, where=f"host {host.name}")
    return Foreign.json(done.stdout.rpartition(BEGIN.decode())[2], f"host {host.name}")


def read(host: Host, wanted: Wanted) -> Reading:
    """Return what files, links and programs of a host say, all in one round trip; raises as `send`.

    What cannot be read is among the reading's problems.
    """
    return Reading.of(send(host, collector(), f"main({json.dumps(asdict(wanted))!r})", READ_TIMEOUT_S))


def collector() -> str:
    """Return the text of the script whose `collect(request)` reads a host; plain Python 3.6."""
    return f"BEGIN = {BEGIN!r}\n{Path(__file__).with_name('_collector.py').read_text()}"
