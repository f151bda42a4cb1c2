"""NVIDIA Onyx: full lines, whose ports may be ranges; `no` follows the port. From its manual (RoCE, PFC)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

from fabriscope.configure.fec import TOUCHES
from fabriscope.configure.step import (
    CNP_PRIORITY,
    ECN_KBYTES,
    STRICT_CNP,
    WATCHED,
    Dialect,
    Ready,
    Saved,
    Step,
    Wanted,
    files,
    filled,
    lossy,
)
from fabriscope.devices.onyx import lossless, port_lines

MTU_BYTES = 9216
_PFC = "dcb priority-flow-control"
_LIMITS = f"minimum-absolute {ECN_KBYTES[0]} maximum-absolute {ECN_KBYTES[1]}"
WORDS = {
    "mtu": "interface PORT mtu {size} force",
    "pfc on": f"{_PFC} priority {{priority}} enable; interface PORT {_PFC} mode on force",
    "fec": "interface PORT fec-override {fec} force",
    "pfc priority": f"{_PFC} priority {{priority}} enable",
    "pfc off": f"no {_PFC} priority {{priority}} enable",
    "pfc mode": f"interface PORT {_PFC} mode on force",
    "pfc globally": f"{_PFC} enable force",
    "trust": "interface PORT qos trust L3",
    "watchdog": "interface PORT pfc-wd",
    "ecn": f"interface PORT traffic-class {{queue}} congestion-control ecn {_LIMITS}",
    "cnp": "interface PORT traffic-class {queue} dcb ets strict",
    "map": "interface PORT qos map dscp {dscp} to switch-priority {priority}",
}
_FLAPS = "the link may flap; 802.3x pause of the port is ignored from then on"
_POOL = ("traffic pool roce type lossless", "traffic pool roce memory percent 50.00")
_FEC = {"rs": "rs-fec", "fc": "fc-fec", "off": "no-fec"}
_PRESET = 3
"""The priority of `roce lossless`."""


def _ready(wanted: Wanted, saved: Saved) -> Ready:
    lines, of_port = port_lines(saved.configuration or "")
    ports = saved.chosen(name for name in of_port if "shutdown" not in of_port[name] or saved.patterns)
    if saved.configuration is None:
        ports = saved.named("Ethernet1/1")
    remarks = [*_remarks(wanted, lines, ports, of_port)]
    preset = next((line for line in lines if re.fullmatch(r"roce(?: \S+)?", line)), None)
    doubts = tuple(_against(preset, wanted)) if preset else ()
    steps = [] if preset else [*_globally(wanted, lines), *_on_ports(wanted, ports, of_port)]
    steps += [] if doubts else [*_raised(wanted, ports, of_port), *_corrected(wanted, ports, of_port)]
    first = (ports[0] if ports else "Ethernet1/1").replace("Ethernet", "ethernet ")
    proofs = (
        "show dcb priority-flow-control", "show roce", f"show interfaces {first} counters roce",
        f"show interfaces {first} counters priority {wanted.priority}", f"show interfaces {first}",
        "show lldp remote", "show running-config",
    )  # fmt: skip
    return Ready(tuple(steps), proofs, tuple(remarks), tuple(ports), tuple(of_port) or tuple(ports), doubts)


def _against(preset: str, wanted: Wanted) -> Iterator[str]:
    """Yield why nothing is written beside a preset, which sets all of this for priority 3 by itself."""
    if preset not in ("roce", "roce lossless"):
        yield f"`{preset}` is set, which is another plan: nothing is written; `roce lossless` in its place is this one"
    elif (wanted.priority, wanted.dscp // 8) != (_PRESET, _PRESET):
        what = f"priority {wanted.priority} and DSCP {wanted.dscp}"
        yield f"`{preset}` is set, which has priority 3 and DSCP 24 to 31: nothing is written for {what} beside it"


def _globally(wanted: Wanted, lines: Sequence[str]) -> Iterator[Step]:
    if not any(line.startswith(f"{_PFC} enable") for line in lines):
        touches = "links of all ports may flap"
        yield Step("PFC for the whole switch", (WORDS["pfc globally"],), (f"no {_PFC} enable force",), touches=touches)
    on = lossless(lines)
    if wanted.priority not in on:
        line = WORDS["pfc priority"].format(priority=wanted.priority)
        what = f"priority {wanted.priority} without loss"
        yield Step(what, (line,), (f"no {line}",), touches="every port on which PFC is on")
    for other in sorted(on - {wanted.priority}) if wanted.is_alone else ():
        line = WORDS["pfc priority"].format(priority=other)
        yield Step(f"priority {other}", (f"no {line}",), (line,), touches=lossy(other))
    yield from _pooled(wanted, lines)


def _pooled(wanted: Wanted, lines: Sequence[str]) -> Iterator[Step]:
    """Yield what gives the priority a lossless pool: one that is there, or a new one."""
    pools = {m[1] for line in lines if (m := re.fullmatch(r"traffic pool (\S+) type lossless", line))}
    pattern = re.compile(rf"traffic pool (\S+) map switch-priority .*\b{wanted.priority}\b.*")
    mapped = {match[1]: line for line in lines if (match := pattern.fullmatch(line))}
    if pools & mapped.keys():
        return
    name = next(iter(sorted(pools)), "roce")
    before = [line for line in lines if line.startswith(f"traffic pool {name} ")]
    mapping = f"traffic pool {name} map switch-priority {wanted.priority}"
    do, undo, touches = [mapping], [f"no {mapping}"], ""
    if name in mapped:
        do, undo = [], []
    if name not in pools and before:  # of another type
        kind = next((line for line in before if line.startswith(f"traffic pool {name} type ")), None)
        do, undo = [_POOL[0], *do], [*undo, kind or f"traffic pool {name} type lossy"]
        touches = f"all priorities of the pool {name} become lossless with it"
    elif name not in pools:
        do, undo, touches = [*_POOL, *do], ["no traffic pool roce"], "half of the buffer leaves what other traffic had"
    undo += [line for other, line in mapped.items() if other != name]
    yield Step(f"a lossless buffer for priority {wanted.priority}", tuple(do), tuple(undo), touches=touches)


def _on_ports(wanted: Wanted, ports: Sequence[str], of_port: Mapping[str, Sequence[str]]) -> Iterator[Step]:
    queue = wanted.priority
    yield from _everywhere("PFC", WORDS["pfc mode"], rf"{_PFC} mode (\S+)(?: force)?", "on", ports, of_port,
                           f"no {_PFC} mode force", _FLAPS)  # fmt: skip
    yield from _everywhere("trust", WORDS["trust"], r"qos trust (\S+)", "L3", ports, of_port, "no qos trust",
                           "the switch no longer sorts these ports' frames by their priority tag (PCP)")  # fmt: skip
    ecn = WORDS["ecn"].format(queue=queue)
    head = f"traffic-class {queue} congestion-control"
    yield from _everywhere(f"ECN of queue {queue}", ecn, rf"{head} (\S+) .*", "ecn", ports, of_port, f"no {head}")
    cnp = WORDS["cnp"].format(queue=CNP_PRIORITY)
    head = f"traffic-class {CNP_PRIORITY} dcb ets"
    yield from _everywhere(f"strict order of queue {CNP_PRIORITY}", cnp, rf"{head} (strict)", "strict", ports, of_port,
                           f"no {head} strict", STRICT_CNP)  # fmt: skip
    yield from _everywhere("watchdog", WORDS["watchdog"], "(pfc-wd)", "pfc-wd", ports, of_port, "no pfc-wd",
                           WATCHED)  # fmt: skip
    words = WORDS["map"].format(dscp=wanted.dscp, priority=wanted.priority)
    head = f"qos map dscp {wanted.dscp} to switch-priority"
    is_usual = wanted.dscp // 8 == wanted.priority
    some = [one for one in ports if not is_usual or _last(of_port.get(one, ()), rf"{head} (\d)") is not None]
    yield from _everywhere(f"DSCP {wanted.dscp}", words, rf"{head} (\d)", str(wanted.priority), some, of_port,
                           f"no qos map dscp {wanted.dscp}")  # fmt: skip


def _raised(wanted: Wanted, ports: Sequence[str], of_port: Mapping[str, Sequence[str]]) -> Iterator[Step]:
    """Yield the MTU of ports that carry less than the hosts send."""
    small = [one for one in ports if int(_last(of_port.get(one, ()), r"mtu (\d+).*") or 1500) < wanted.mtu_bytes]
    words = WORDS["mtu"].format(size=MTU_BYTES)
    yield from _everywhere(
        "MTU", words, r"mtu (\d+)(?: force)?", "", small, of_port, "no mtu force", "the link may flap"
    )


def _corrected(wanted: Wanted, ports: Sequence[str], of_port: Mapping[str, Sequence[str]]) -> Iterator[Step]:
    """Yield how errors of the links are corrected, where that is asked for."""
    if wanted.fec:
        words = WORDS["fec"].format(fec=_FEC[wanted.fec])
        yield from _everywhere("FEC", words, r"fec-override (\S+)(?: force)?", _FEC[wanted.fec], ports, of_port,
                               "no fec-override", TOUCHES)  # fmt: skip


def _everywhere(
    what: str, words: str, pattern: str, usual: str, ports: Sequence[str], of_port: Mapping[str, Sequence[str]],
    undone: str, touches: str = "",
) -> Iterator[Step]:  # fmt: skip
    """Yield a step for all ports that have the same value, or none, of what should be `usual` on each."""
    groups: dict[str | None, list[str]] = {}
    for port in ports:
        lines = of_port.get(port, ())
        if not usual or _last(lines, pattern) != usual:
            old = next((line for line in reversed(lines) if re.fullmatch(pattern, line)), None)
            groups.setdefault(old, []).append(port)
    for old, group in groups.items():
        for where in _ranges(group):
            yield Step(
                f"{what} of {where}", (filled(words, where),), (f"interface {where} {old or undone}",), touches=touches
            )


def _last(lines: Iterable[str], pattern: str) -> str | None:
    found = [match[1] for line in lines if (match := re.fullmatch(pattern, line))]
    return found[-1] if found else None


def _ranges(ports: Sequence[str]) -> Iterator[str]:
    """Yield `ethernet 1/1-1/4` of ports that follow each other."""
    parts = [one.removeprefix("Ethernet").rpartition("/") for one in ports]
    run: list[tuple[str, int]] = []
    for head, _, number in [*parts, ("", "", "-9")]:
        if run and (head, int(number)) != (run[0][0], run[-1][1] + 1):
            ends = [f"{run[0][0]}/{one}" for one in dict.fromkeys((run[0][1], run[-1][1]))]
            yield f"ethernet {'-'.join(ends)}"
            run = []
        run.append((head, int(number)))


def _remarks(
    wanted: Wanted, lines: Sequence[str], ports: Sequence[str], of_port: Mapping[str, Sequence[str]]
) -> Iterator[str]:
    yield "DSCP/8 is the switch's priority unless it is mapped: its neighbours in steps of eight go the same way"
    yield from wanted.staying(lossless(lines))
    strict = [one for one in ports if f"traffic-class {wanted.priority} dcb ets strict" in of_port.get(one, ())]
    if strict:
        yield f"queue {wanted.priority} of {', '.join(_ranges(strict))} is strict and stays so"
    if any(line in ("roce", "roce lossless") for line in lines):
        yield "`roce lossless` is set, which is all of this for priority 3"


_write = partial(files, comment="##", suffix=".txt")
DIALECT = Dialect("onyx", WORDS, _ready, _write, r"Ethernet\d+/\d+(?:/\d+)?", "Ethernet1/1", MTU_BYTES)
