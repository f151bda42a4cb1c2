"""Ports of one speed begin to mark at the same fill."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from fabriscope.audit.check import Check, Result, unread
from fabriscope.audit.scene import Scene
from fabriscope.model.audit import Finding, Witness
from fabriscope.model.device import Device

_FACT = re.compile(r"port\.(.+)\.(ecn_\d_bytes)")
_LEAST_ALIKE = 2


def _look(scene: Scene, check: Check) -> Iterator[Result | None]:
    groups: dict[tuple[str, object, str], dict[tuple[str, str], str]] = {}
    for device in scene.devices.values():
        for name, value in device.known.values.items():
            if _FACT.fullmatch(name):
                yield from unread(check, name, {device.name: device.known})
            if isinstance(value, str) and (match := _FACT.fullmatch(name)):
                speed = device.number(match[1], "speed_bits_per_s")
                groups.setdefault((device.system, speed, match[2]), {})[device.name, match[1]] = value
    for (_, _, fact), ports in groups.items():
        usual, count = Counter(ports.values()).most_common(1)[0]
        if count < _LEAST_ALIKE:
            continue
        like = next(place for place, value in ports.items() if value == usual)
        for place, value in ports.items():
            yield None if value == usual else _finding(scene, check, fact, place, like)


def _finding(scene: Scene, check: Check, fact: str, place: tuple[str, str], like: tuple[str, str]) -> Finding:
    seen = [_witness(scene.devices[device], port, fact) for device, port in (place, like)]
    queue = fact.split("_")[1]
    what = f"queue {queue} marks from and to {seen[0].value} bytes, and {seen[1].value} on other ports of its speed"
    fix = f"give the port the profile of {' '.join(like)}"
    return Finding(check.name, check.severity, " ".join(place), place[:1], what, tuple(seen), fix)


def _witness(device: Device, port: str, fact: str) -> Witness:
    return Witness(f"{device.name} {port}", fact, str(device.text(port, fact)), device.source(port, fact))


CHECK = Check(
    "ecn-thresholds-differ",
    "note",
    "ports of one speed begin to mark at the same fill",
    why="flows through one port get less than those through another",
    source="the value of most ports",
    look=_look,
)
