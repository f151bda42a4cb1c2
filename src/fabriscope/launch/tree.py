"""One small job on many hosts at once: a program that is sent as text goes down a tree of ssh, answers come up.

Up to `FLAT_HOSTS` hosts are reached from here. Beyond that a few of them hand the job on to the others with their own
ssh; a host that a relay cannot reach is tried from here, so that hosts which do not know each other only cost time.
Everything ends when `close` is called or we die: every part reads its standard input, and its end is the end.
"""

from __future__ import annotations

import math
import queue
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from fabriscope.hosts.access.conversation import Conversation
from fabriscope.hosts.access.orders import PATIENCE_S
from fabriscope.hosts.access.sent import PYTHON_WORDS, order
from fabriscope.launch.on_host import program
from fabriscope.launch.ssh import Ssh, on_host
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign

FLAT_HOSTS = 64

_TRIES = 2
_OF_SSH = 255
"""The exit status of ssh itself when there is no connection."""


@dataclass(frozen=True)
class Answer:
    """What one host said, or why it said nothing."""

    value: Any = None
    problem: str | None = None
    """One sentence's part: `Permission denied (publickey).`"""


def _words_of(line: bytes) -> dict[str, Any]:
    """Return what one host said; raises ParseError for what no relay says."""
    words = Foreign.json(line, "what a host says")
    words.at("host").text()
    if "error" in words.mapping():
        words.at("error").text()
    else:
        words.at("answer")
    return dict(words.mapping())


class Tree:
    """Sends jobs to hosts, and keeps what it sent until it is closed."""

    def __init__(self, ssh: Ssh) -> None:
        self._ssh = ssh
        self._sessions: list[Conversation] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        threads = [threading.Thread(target=session.close) for session in self._sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()  # ends: closing has time limits of its own

    def ask(
        self,
        hosts: Sequence[str],
        job: str,
        request: Any,
        *,
        body: bytes = b"",
        with_files: tuple[str, ...] = (),
        is_first: bool = False,
        timeout_s: float = 60.0,
    ) -> dict[str, Answer]:
        """Send a job to hosts and return the answer of each; the job's end waits for ours.

        `is_first`: these connections carry all later ones. Never raises: what went wrong is in the answers.
        """
        answers: dict[str, Answer] = {}
        left, until_s = list(hosts), time.monotonic() + timeout_s
        for attempt in range(_TRIES):
            nodes = _nodes(left, self._ssh, is_first=is_first, is_flat=attempt > 0)
            words = {"name": None, "nodes": nodes, "request": request, "patience_s": PATIENCE_S}
            parts = (program((*with_files, "relay"), "relay()", job), order(words, body))
            session = Conversation((sys.executable, *PYTHON_WORDS[1:]), parts)
            self._sessions.append(session)
            failed = _collect(session, set(left), answers, until_s)
            left = [name for name in left if name in failed and _is_worth_another_try(failed[name])]
            if not left:
                break
        return {name: answers[name] for name in hosts}


def _collect(
    session: Conversation, missing: set[str], answers: dict[str, Answer], until_s: float
) -> dict[str, Mapping[str, Any]]:
    """Put what the session says into `answers`; return the words of the hosts that failed."""
    failed: dict[str, Mapping[str, Any]] = {}
    while missing:
        try:
            line = session.lines.get(timeout=max(until_s - time.monotonic(), 0.001))
            said = None if line is None else _words_of(line)
        except queue.Empty:
            said = None
        except ParseError:  # nothing that follows can be trusted: those that have not answered are told as silent
            session.kill()
            said = None
        if said is None:
            problem = "it did not answer in time" if time.monotonic() >= until_s else "the relay on this machine ended"
            answers.update({name: Answer(problem=problem) for name in missing})
            break
        name = said["host"]
        if name not in missing:
            continue  # it had answered, and its connection ended later
        missing.discard(name)
        if "error" in said:
            failed[name] = said
            answers[name] = Answer(problem=_problem(said))
        else:
            answers[name] = Answer(said["answer"])
    return failed


def _nodes(hosts: Sequence[str], ssh: Ssh, *, is_first: bool, is_flat: bool) -> list[dict[str, Any]]:
    """Return the tree: the first hosts relay to the others where there are too many to be reached from here."""
    relay_count = len(hosts) if is_flat or len(hosts) <= FLAT_HOSTS else math.isqrt(len(hosts))
    near, far = hosts[:relay_count], hosts[relay_count:]
    return [
        {
            "name": name,
            "argv": on_host(ssh.to(name, is_first=is_first)),
            "nodes": [
                {"name": below, "argv": on_host(ssh.to_below(below)), "nodes": []} for below in far[index::relay_count]
            ],
        }
        for index, name in enumerate(near)
    ]


def _is_worth_another_try(said: Mapping[str, Any]) -> bool:
    """Return whether a host was not reached through another one, or its sshd had too many guests at once."""
    reason = said["error"]
    is_crowded = "kex_exchange_identification" in reason or "Connection reset" in reason
    return not said.get("was_direct", True) or (said.get("status") == _OF_SSH and is_crowded)


def _problem(said: Mapping[str, Any]) -> str:
    reason, status = str(said["error"]), said.get("status")
    if status == _OF_SSH or status is None:
        return f"it cannot be reached: {reason}"
    if status in (126, 127) and "python3" in reason:
        return f"it has no python3: {reason}"
    return reason
