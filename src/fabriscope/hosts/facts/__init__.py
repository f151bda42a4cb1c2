"""What is true of a host. One file a group; the registry finds those that define `FACTS`.

A group names the files and programs that it needs, and turns what they said into facts: a pure function, tested with
recorded text. One small script, fed to the host's own `python3`, reads for all groups at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from fabriscope.hosts.facts._reading import FactGroup, Output, Reading
from fabriscope.model.host import Fact, Host
from fabriscope.registry import discover

COLLECT_TIMEOUT_S = 30.0

_COLLECTOR = Path(__file__).with_name("_collector.py")


def groups() -> list[FactGroup]:
    """Return all groups of facts."""
    return list(discover("hosts.facts", "FACTS").plugins.values())


def collect(host: Host) -> list[Fact]:
    """Return everything that the groups know of the host; what cannot be read is an unknown with its reason."""
    known = groups()
    try:
        reading = read(host, known)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        return [Fact(f"{group.name}.reading", None, f"the host cannot be read: {error}") for group in known]
    facts: list[Fact] = []
    for group in known:
        try:
            facts += group.facts(reading)
        except (ValueError, LookupError, AttributeError) as error:  # a kernel that writes what we have never seen
            facts.append(Fact(f"{group.name}.reading", None, f"unexpected text: {type(error).__name__}: {error}"))
    return facts


def read(host: Host, wanted: Iterable[FactGroup]) -> Reading:
    """Return what the host's files and programs said. Raises OSError, SubprocessError or ValueError."""
    known = list(wanted)
    request = {
        "globs": sorted({glob for group in known for glob in group.globs}),
        "links": sorted({glob for group in known for glob in group.links}),
        "commands": [list(argv) for argv in sorted({argv for group in known for argv in group.commands})],
    }
    script = f"{_COLLECTOR.read_text()}\nmain({json.dumps(request)!r})\n"
    python = "python3" if host.is_remote else sys.executable
    done = subprocess.run(
        [*host.access, python, "-I", "-S", "-"],
        input=script.encode(),
        capture_output=True,
        timeout=COLLECT_TIMEOUT_S,
        check=False,
    )
    if done.returncode != 0:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
        raise ValueError(f"{python} ended with exit status {done.returncode}: {said[-1]}")
    answer = json.loads(done.stdout.decode().rpartition("\x1e")[2])
    return Reading(
        files=answer["files"],
        links=answer["links"],
        problems=answer["problems"],
        outputs={key: Output(**one) for key, one in answer["outputs"].items()},
    )
