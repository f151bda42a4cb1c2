"""A link has come and gone no more often than those of other hosts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from statistics import median

from fabriscope.audit.check import Check, Result, unread
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import Finding, Witness

_LEAST_HOSTS, _MOST_MORE = 3, 10
_FACT = re.compile(r"link\.(.+)\.change_count")


def _look(scene: Scene, check: Check) -> Iterator[Result | None]:
    matches = ((name, match[1]) for name in scene.names if (match := _FACT.fullmatch(name)))
    for name, interface in matches:
        for group in scene.kinds:
            told = {host: scene.hosts[host].number(name) for host in group}
            yield from unread(check, name, {host: scene.hosts[host] for host in group})
            counts = {host: count for host, count in told.items() if count is not None}
            if len(counts) < _LEAST_HOSTS:
                continue
            usual = median(counts.values())
            odd = {host: count for host, count in counts.items() if count > 2 * usual + _MOST_MORE}
            like = min(counts, key=lambda host: abs(counts[host] - usual))
            for host, count in odd.items():
                seen = [Witness(f"{one} {interface}", "change_count", f"{counts[one]:.0f}",
                                f"cat /sys/class/net/{interface}/carrier_changes") for one in (host, like)]  # fmt: skip
                what = f"the link has changed {count:.0f} times since the kernel was started, and {usual:.0f} elsewhere"
                fix = "look at the cable, the module and the port of the switch"
                yield Finding(check.name, check.severity, interface, (host,), what, tuple(seen), fix)
            if not odd:
                yield None


CHECK = Check(
    "link-flaps",
    "error",
    "a link has come and gone no more often than those of other hosts",
    why="a job dies, and the next one is well",
    source="Azure's node health checks, leptonai/gpud",
    look=_look,
)
