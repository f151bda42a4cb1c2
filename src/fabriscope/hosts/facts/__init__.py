"""What is true of a host. One file a group; the registry finds those that define `FACTS`.

A group names the files and programs that it needs, and turns what they said into facts: a pure function, tested with
recorded text. One small script, fed to the host's own `python3`, reads for all groups at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fabriscope.hosts.facts._reading import FactGroup, Output, Reading
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import BEGIN, MOST_INT, Foreign, decode_json
from fabriscope.model.host import Fact, Host
from fabriscope.registry import discover

__all__ = ["COLLECT_TIMEOUT_S", "Reading", "collect", "collector", "from_answer", "groups", "read", "request"]

COLLECT_TIMEOUT_S = 30.0
_TEXTS = ("files", "links", "problems")

_COLLECTOR = Path(__file__).with_name("_collector.py")


def groups() -> list[FactGroup]:
    """Return all groups of facts."""
    return list(discover("hosts.facts", "FACTS").plugins.values())


def collect(host: Host) -> list[Fact]:
    """Return everything that the groups know of the host; what cannot be read is an unknown with its reason."""
    known = groups()
    try:
        return _facts(read(host, known), known)
    except (OSError, subprocess.SubprocessError, ValueError, ParseError) as error:
        return [Fact(f"{group.name}.reading", None, f"the host cannot be read: {error}") for group in known]


def collector() -> str:
    """Return the text of the script whose `collect(request())` reads a host; plain Python 3.6."""
    return f"BEGIN = {BEGIN!r}\n{_COLLECTOR.read_text()}"


def request(known: Iterable[FactGroup]) -> dict[str, Any]:
    """Return what the collector is asked for."""
    wanted = list(known)
    return {
        "globs": sorted({glob for group in wanted for glob in group.globs}),
        "links": sorted({glob for group in wanted for glob in group.links}),
        "commands": [list(argv) for argv in sorted({argv for group in wanted for argv in group.commands})],
    }


def from_answer(answer: Mapping[str, Any]) -> list[Fact]:
    """Return the facts in what the collector, asked for all groups, answered; raises ParseError."""
    return _facts(_reading(answer), groups())


def _facts(reading: Reading, known: Iterable[FactGroup]) -> list[Fact]:
    facts: list[Fact] = []
    for group in known:
        try:
            facts += group.facts(reading)
        except (
            ValueError,
            LookupError,
            AttributeError,
            TypeError,
            ArithmeticError,
            RecursionError,
        ) as error:  # a kernel that writes what we have never seen
            facts.append(Fact(f"{group.name}.reading", None, f"unexpected text: {type(error).__name__}: {error}"))
    return facts


def read(host: Host, wanted: Iterable[FactGroup]) -> Reading:
    """Return what the host's files and programs said. Raises OSError, SubprocessError, ValueError or ParseError."""
    script = f"{collector()}\nmain({json.dumps(request(wanted))!r})\n"
    python = ("python3" if host.is_remote else sys.executable, "-I", "-S", "-")
    done = subprocess.run(
        [*host.access, *python],
        input=script.encode(),
        capture_output=True,
        timeout=COLLECT_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise ValueError(f"{python[0]} ended with exit status {done.returncode}: {said[-1]}")
    return _reading(decode_json(done.stdout.rpartition(BEGIN)[2], f"the facts of {host.name}"))


def _reading(answer: Any) -> Reading:
    """Return a collector's answer; raises ParseError."""
    part = Foreign(answer, "the facts of a host")
    texts = {group: {key: one.text() for key, one in part.at(group).members()} for group in _TEXTS}
    return Reading(
        **texts,
        outputs={
            key: Output(one.at("exit_status").whole(least=-MOST_INT), one.at("stdout").text(), one.at("stderr").text())
            for key, one in part.at("outputs").members()
        },
    )
