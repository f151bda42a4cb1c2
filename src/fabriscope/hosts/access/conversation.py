"""A program that was sent to a host as text and stays there, listening to us, until its input ends."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import threading
from collections.abc import Sequence

from fabriscope.hosts.access.sent import HEARTBEAT_S
from fabriscope.model.foreign import BEGIN

HERE = b"."
"""Says that we are still here."""
_END_PATIENCE_S = 8.0


class Conversation:
    """What we say are single bytes, and what the program says are lines behind BEGIN."""

    def __init__(self, argv: Sequence[str], parts: Sequence[bytes]) -> None:
        """Start `argv`, which takes the parts of a program and its order first; raises OSError."""
        self.lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        """What the program says, without BEGIN; None once it has ended."""
        self.last_words = ""
        """What else was written last: why ssh reaches nobody, or a traceback."""
        self._said: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # a terminal's Ctrl-C is ours alone: what runs on hosts ends when we say so
        )
        threading.Thread(target=self._tell, args=(parts,), daemon=True).start()
        threading.Thread(target=self._hear, daemon=True).start()

    def _tell(self, parts: Sequence[bytes]) -> None:
        assert self._process.stdin is not None  # noqa: S101 - it is a pipe
        word = b"".join(parts)
        with contextlib.suppress(OSError, ValueError):  # it has ended
            while word:
                self._process.stdin.write(word)
                self._process.stdin.flush()
                try:
                    word = self._said.get(timeout=HEARTBEAT_S)
                except queue.Empty:
                    word = HERE
        with contextlib.suppress(OSError):
            self._process.stdin.close()

    def _hear(self) -> None:
        assert self._process.stdout is not None  # noqa: S101 - it is a pipe
        try:
            # ends: with the process, which `close` kills if it must; in a thread that nobody waits for
            for line in self._process.stdout:
                _, begin, said = line.rpartition(BEGIN)
                if begin:
                    self.lines.put(said)
                elif said.strip():
                    self.last_words = said.decode("utf-8", "replace").strip()
        finally:
            self.lines.put(None)

    def say(self, word: bytes) -> None:
        """Say a word, as soon as what was said before has been taken."""
        self._said.put(word)

    def kill(self) -> None:
        """End the program's near end, which its far end understands as our end."""
        self._process.kill()

    def close(self) -> None:
        """End what it hears, and wait until it has ended; one that does not is killed."""
        self.say(b"")
        try:
            self._process.wait(_END_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):  # the kernel does not let it go
                self._process.wait(_END_PATIENCE_S)
