"""Cumulus Linux with NVUE: the preset `qos roce`, and what differs from it. From NVIDIA's guide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from fabriscope.configure import fec
from fabriscope.configure.step import WATCHED, Dialect, Ready, Saved, Step, Wanted, files, filled, lossy
from fabriscope.devices.cumulus import ports_of, settings
from fabriscope.devices.system import numbers_in

MTU_BYTES = 9216
"""Also what a port has by itself."""
_PORT = r"swp\d+(?:s\d+)?"
_APPLY = "nv config apply"
_FEC = {"rs": "rs", "fc": "baser", "off": "off"}
_PRESET = 3
"""The priority of the preset, and the traffic class of its queue."""
WORDS = {
    "mtu": f"nv set interface PORT link mtu {{size}}; {_APPLY}",
    "pfc on": f"nv set qos pfc default-global switch-priority {{priority}}; {_APPLY}",
    "pfc off": f"nv unset qos pfc default-global switch-priority {{priority}}; {_APPLY}",
    "ecn": f"nv set qos congestion-control default-global traffic-class {{queue}} ecn enable; {_APPLY}",
    "roce": "nv set qos roce mode lossless",
    "map": "nv set qos mapping default-global dscp {dscp} switch-priority {priority}",
    "fec": f"nv set interface PORT link fec {{fec}}; {_APPLY}",
    "no fec": f"nv unset interface PORT link fec; {_APPLY}",
    "trust": f"nv set qos mapping default-global trust both; {_APPLY}",
    "watchdog": f"nv set interface PORT qos pfc-watchdog state enable; {_APPLY}",
    "queue": "nv set qos egress-queue-mapping default-global switch-priority {priority} traffic-class {queue}",
}


def _said(key: str, port: str = "", **values: object) -> str:
    return filled(WORDS[key].partition("; ")[0], port, **values)


def _ready(wanted: Wanted, saved: Saved) -> Ready:
    tree: dict[str, object] = {}
    for part in settings(saved.configuration) if saved.configuration is not None else ():
        _merge(tree, part.mapping())
    steps = [*_preset(tree), *_priority(wanted, tree)]
    interfaces = _interfaces(tree) if saved.configuration is not None else {name: {} for name in saved.named("swp1")}
    ports = saved.chosen(interfaces)
    for port in ports:
        size = str(_under(interfaces, port, "link").get("mtu"))
        if size.isdecimal() and int(size) < wanted.mtu_bytes:
            line, undo = (_said("mtu", port, size=one) for one in (MTU_BYTES, size))
            steps.append(Step(f"MTU of {port}", (line,), (undo,), touches="the port's link may flap"))
        now = _under(interfaces, port, "link").get("fec")
        now = None if now is None else "off" if now is False else str(now)
        steps += fec.of_command(wanted.fec, port, _said("fec", port, fec="{fec}"), _FEC, now, _said("no fec"))
        steps += _watched(port, _under(interfaces, port, "qos", "pfc-watchdog").get("state"))
    counters = (f"nv show interface {port} counters qos -o json" for port in ports[:1])
    proofs = ("nv show qos roce -o json", *counters, "nv config show -o json")
    remarks, doubts = tuple(_remarks(wanted, tree)), tuple(_doubts(interfaces, ports))
    return Ready(tuple(steps), proofs, remarks, tuple(ports), tuple(interfaces), doubts)


def _watched(port: str, state: object) -> Iterator[Step]:
    """Yield what lets a watchdog guard a port on which none does."""
    if state not in (True, "enable", "enabled", "on"):
        head = f"interface {port} qos pfc-watchdog"
        undo = f"nv unset {head}" if state is None else f"nv set {head} state disable"
        yield Step(f"watchdog of {port}", (_said("watchdog", port),), (undo,), touches=WATCHED)


def _doubts(interfaces: Mapping[str, object], ports: Sequence[str]) -> Iterator[str]:
    """Yield the ports to which what is set for all does not come: a profile of their own stands in its place."""
    for kind in ("pfc", "congestion-control", "mapping"):
        for port in ports:
            if (profile := _under(interfaces, port, "qos", kind).get("profile", "default-global")) != "default-global":
                yield (
                    f"{port} has the profile {profile} (`qos {kind}`) in place of what all ports have: it stays so, and"
                    " is yours to change"
                )


def _interfaces(tree: Mapping[str, object]) -> dict[str, object]:
    """Return what is said of each port: a key such as `swp1-4,7` is said of several, and several may say of one."""
    found: dict[str, dict[str, object]] = {}
    for key, about in _under(tree, "interface").items():
        for name in (one for one in ports_of(key) if re.fullmatch(_PORT, one)):
            _merge(found.setdefault(name, {}), about if isinstance(about, dict) else {})
    return dict(found)


def _merge(tree: dict[str, object], part: Mapping[str, object]) -> None:
    for key, value in part.items():
        if isinstance(value, dict):
            below = tree.setdefault(str(key), {})
            if isinstance(below, dict):
                _merge(below, value)
        else:
            tree[str(key)] = value


def _under(tree: Mapping[str, object], *path: str) -> dict[str, object]:
    """Return what stands at a path, where that is a mapping; else nothing."""
    here: object = tree
    for part in path:
        here = here.get(part) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else {}


def _preset(tree: Mapping[str, object]) -> Iterator[Step]:
    roce = _under(tree, "qos", "roce")
    # YAML 1.1 reads `on` as true; JSON has the word.
    is_on = roce.get("enable") in (True, "on")
    mode = roce.get("mode", "lossless")
    if is_on and mode == "lossless":
        return
    undo = ["nv unset qos roce"]
    if "mode" in roce:
        undo.append(f"nv set qos roce mode {mode}")
    if "enable" in roce:
        undo.append(f"nv set qos roce enable {'on' if is_on else 'off'}")
    do = (_said("roce"), "nv set qos roce enable on") if roce.get("enable") in (False, "off") else (_said("roce"),)
    touches = "all ports: trust, maps, queues (half of the share each) and buffers become those of the preset"
    yield Step("the preset for RoCE", do, tuple(undo), touches=touches)


def _priority(wanted: Wanted, tree: Mapping[str, object]) -> Iterator[Step]:
    """Yield what makes another priority, or another DSCP, that of the preset's queue."""
    base = ("qos", "pfc", "default-global")
    chosen = _chosen(tree)
    if wanted.priority not in (chosen or {_PRESET}):
        line = _said("pfc on", priority=wanted.priority)
        undo = _said("pfc off", priority=wanted.priority) if chosen else f"nv unset {' '.join(base)}"
        yield Step(f"priority {wanted.priority} without loss", (line,), (undo,), touches="all ports")
    for other in sorted((chosen or set()) - {wanted.priority}) if wanted.is_alone else ():
        line, undo = _said("pfc off", priority=other), _said("pfc on", priority=other)
        yield Step(f"priority {other}", (line,), (undo,), touches=lossy(other))
    if wanted.priority != _PRESET:
        yield from _queues(wanted, tree)
    head = ("qos", "mapping", "default-global", "dscp")
    old = _under(tree, *head, str(wanted.dscp)).get("switch-priority")
    is_preset = wanted.dscp == 26 and wanted.priority == _PRESET
    is_mapped = str(old) == str(wanted.priority) if old is not None else is_preset
    if not is_mapped:
        line, back = (_said("map", dscp=wanted.dscp, priority=one) for one in (wanted.priority, old))
        undo = f"nv unset {' '.join(head)} {wanted.dscp}" if old is None else back
        yield Step(f"DSCP {wanted.dscp}", (line,), (undo,))
    yield from _trusted(tree, is_usual=is_mapped)


def _trusted(tree: Mapping[str, object], *, is_usual: bool) -> Iterator[Step]:
    """Yield what lets DSCPs be looked at: where the preset's map is changed trust is said, too, as NVIDIA has it."""
    trust = _under(tree, "qos", "mapping", "default-global").get("trust")
    if trust not in (("both", "l3", None) if is_usual else ("both", "l3")):
        undo = "nv unset qos mapping default-global trust"
        undo = undo if trust is None else f"nv set qos mapping default-global trust {trust}"
        touches = "all ports: packets with a DSCP are sorted by it, others by their priority tag (PCP)"
        yield Step("trust", (_said("trust"),), (undo,), touches=touches)


def _queues(wanted: Wanted, tree: Mapping[str, object]) -> Iterator[Step]:
    head = ("qos", "egress-queue-mapping", "default-global", "switch-priority")
    for priority, queue in ((wanted.priority, _PRESET), (_PRESET, 0)):
        old = _under(tree, *head, str(priority)).get("traffic-class")
        if str(old) != str(queue):
            line, back = (_said("queue", priority=priority, queue=one) for one in (queue, old))
            undo = f"nv unset {' '.join(head)} {priority}" if old is None else back
            yield Step(f"queue of priority {priority}", (line,), (undo,), touches=f"what has priority {priority}")


def _chosen(tree: Mapping[str, object]) -> set[int]:
    """Return the priorities that are named in place of the preset's."""
    part: object = _under(tree, "qos", "pfc", "default-global").get("switch-priority")
    words: Sequence[object] = [*part] if isinstance(part, dict) else [] if part is None else [part]
    return numbers_in(",".join(map(str, words)))


def _remarks(wanted: Wanted, tree: Mapping[str, object]) -> Iterator[str]:
    yield (
        "`nv config apply --confirm 5` goes back by itself after 5 minutes unless it is confirmed (NVIDIA's guide says"
        " how); `nv config save` keeps what is confirmed"
    )
    yield f"ports without an MTU of their own have {MTU_BYTES}, the system's default"
    if _under(tree, "qos", "egress-scheduler", "default-global", "traffic-class", str(_PRESET)).get("mode") == "strict":
        yield f"traffic class {_PRESET} is strict (`qos egress-scheduler`) and stays so"
    yield from wanted.staying(_chosen(tree))


_write = partial(files, comment="#", suffix=".sh", after=("nv config diff", f"{_APPLY} --confirm 5"))
DIALECT = Dialect("cumulus", WORDS, _ready, _write, _PORT, "swp1", MTU_BYTES)
