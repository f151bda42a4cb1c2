"""Arista EOS. From Arista's QoS guide and the templates of aristanetworks/avd; units of thresholds are 1000 B."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from fabriscope.configure.fec import TOUCHES
from fabriscope.configure.step import (
    CNP_PRIORITY,
    ECN_KBYTES,
    SHARE_PERCENT,
    STRICT_CNP,
    WATCHED,
    Dialect,
    Ready,
    Saved,
    Step,
    Wanted,
    files,
    lossy,
    step,
)
from fabriscope.devices.configuration import Block, after, blocks, named
from fabriscope.devices.eos import classes, lossless
from fabriscope.model.priorities import listed

MTU_BYTES = 9214
_PORT = r"Ethernet ?\d+(?:/\d+){0,2}"
"""Of a port: what has a dot in it is a subinterface, whose queues are its port's."""
_LIMITS = f"minimum-threshold {ECN_KBYTES[0]} kbytes maximum-threshold {ECN_KBYTES[1]} kbytes"
_PRIORITY = "priority-flow-control priority {priority} no-drop"
WORDS = {
    "mtu": "interface PORT; mtu {size}",
    "pfc on": f"interface PORT; priority-flow-control on; {_PRIORITY}",
    "pfc priority": f"interface PORT; {_PRIORITY}",
    "pfc off": "interface PORT; priority-flow-control priority {priority} drop",
    "pfc mode": "interface PORT; priority-flow-control on",
    "pfc globally": "no priority-flow-control all off",
    "trust": "interface PORT; qos trust dscp",
    "watchdog": "interface PORT; priority-flow-control pause watchdog",
    "ecn": f"interface PORT; tx-queue {{queue}}; random-detect ecn {_LIMITS} max-mark-probability 100",
    "map": "qos map dscp {dscp} to traffic-class {priority}",
    "queue": "qos map traffic-class {priority} to tx-queue {priority}",
    "strict": "interface PORT; tx-queue {queue}; priority strict",
    "share": "interface PORT; tx-queue {queue}; no priority; bandwidth percent {share}",
}
_OFF = r"(?:no |default )?"
_CORRECTION = "error-correction encoding"
_ENCODINGS = {"rs": f"{_CORRECTION} reed-solomon", "fc": f"{_CORRECTION} fire-code"}
"""A port may have both: which one corrects is then agreed with the other end."""


def _ready(wanted: Wanted, saved: Saved) -> Ready:
    tree = blocks(saved.configuration or "")
    ports = {name: block for name, block in named(tree, "interface") if _is_meant(name, block, saved)}
    if saved.configuration is None:
        ports = {name: Block(f"interface {name}") for name in saved.named("Ethernet1/1")}
    profiles = dict(named(tree, "qos profile"))
    holders = dict(named(tree, "interface"))
    steps = [*_globally(wanted, saved, [one.line for one in tree])]
    for name, block in ports.items():
        profile = _profile(block, profiles)
        group = after(block.lines, "channel-group")
        of_group = f"Port-Channel{group.split()[0]}" if group else ""
        steps += _routed(wanted, saved, of_group or name, holders.get(of_group, block), profile)
        steps += _port(wanted, name, block, profile, saved)
        steps += _corrected(wanted.fec, name, block.lines)
    there = tuple(name for name in holders if re.fullmatch(_PORT, name)) or tuple(ports)
    remarks = tuple(_remarks(wanted, ports, profiles, tree))
    return Ready(tuple(dict.fromkeys(steps)), _proofs(ports), remarks, tuple(ports), there)


def _corrected(kind: str, port: str, lines: Sequence[str]) -> Iterator[Step]:
    """Yield what leaves a port the FEC that is wanted alone, where any is and it is not so already."""
    standing = [line for line in lines if re.fullmatch(rf"{_OFF}{_CORRECTION}.*", line)]
    on = [line for line in standing if line in _ENCODINGS.values()]
    none = f"no {_CORRECTION}"
    if not kind or (on == [_ENCODINGS[kind]] if kind in _ENCODINGS else not on and none in standing):
        return
    do = (none, _ENCODINGS[kind]) if len(on) > 0 and kind in _ENCODINGS else (_ENCODINGS.get(kind, none),)
    undo = (f"default {_CORRECTION}", *standing)
    yield Step(f"FEC of {port}", do, undo, (f"interface {port}",), touches=TOUCHES)


def _profile(block: Block, profiles: Mapping[str, Block]) -> Block | None:
    return profiles.get(after(block.lines, "service-profile") or "")


def _both(profile: Block | None, block: Block) -> list[str]:
    """Return the lines of a profile and of what has it: the later ones overrule the earlier ones."""
    return [*(profile.lines if profile else ()), *block.lines]


def _is_meant(name: str, block: Block, saved: Saved) -> bool:
    is_on = "shutdown" not in block.lines or bool(saved.patterns)
    return re.fullmatch(_PORT, name) is not None and saved.means(name) and is_on


def _globally(wanted: Wanted, saved: Saved, top: Sequence[str]) -> Iterator[Step]:
    if "priority-flow-control all off" in top:
        what, touches = "PFC for the whole switch", "every port with `priority-flow-control on`"
        yield step(what, WORDS["pfc globally"], ("priority-flow-control all off",), touches)
    old = classes(top).get(wanted.dscp)
    if saved.is_blank or (wanted.dscp // 8 if old is None else old) != wanted.priority:
        undo = (
            f"qos map dscp {wanted.dscp} to traffic-class {old}"
            if old is not None
            else f"no qos map dscp {wanted.dscp}"
        )
        what = f"DSCP {wanted.dscp} to traffic class {wanted.priority}"
        yield step(what, WORDS["map"], (undo,), dscp=wanted.dscp, priority=wanted.priority)
    queue = after(top, f"qos map traffic-class {wanted.priority} to tx-queue")
    if saved.is_blank or queue not in (None, str(wanted.priority)):
        head = f"qos map traffic-class {wanted.priority}"
        undo = f"{head} to tx-queue {queue}" if queue else f"no {head}"
        yield step(f"traffic class {wanted.priority} to its queue", WORDS["queue"], (undo,), priority=wanted.priority)


def _routed(wanted: Wanted, saved: Saved, name: str, block: Block, profile: Block | None) -> Iterator[Step]:
    """Yield what belongs to the port, or to the Port-Channel that it is a member of."""
    lines = _both(profile, block)
    is_routed = "no switchport" in block.lines or saved.configuration is None
    size = after(lines, "mtu")
    if int(size) < wanted.mtu_bytes if size and size.isdecimal() else is_routed:
        undo = _old(block.lines, r"mtu .*") or "no mtu"
        yield step(f"MTU of {name}", WORDS["mtu"], (undo,), port=name, size=MTU_BYTES)
    trust = _old(lines, rf"{_OFF}qos trust.*")
    usual = trust in (None, "default qos trust") and is_routed and saved.configuration is not None
    if not usual and trust != "qos trust dscp":
        undo = _old(block.lines, rf"{_OFF}qos trust.*") or "default qos trust"
        touches = "the switch no longer sorts this port's frames by their priority tag (PCP)"
        yield step(f"trust of {name}", WORDS["trust"], (undo,), touches, port=name)


def _port(wanted: Wanted, name: str, block: Block, profile: Block | None, saved: Saved) -> Iterator[Step]:
    lines = _both(profile, block)
    mode = rf"{_OFF}priority-flow-control(?: mode)?(?: on| off)?"
    state = _old(lines, mode)
    if state is None or not re.fullmatch(r"priority-flow-control(?: mode)? on", state):
        words = WORDS["pfc mode"]
        if " mode on" in (saved.configuration or ""):  # an older EOS
            words = words.replace("control on", "control mode on")
        undo = _old(block.lines, mode) or "no priority-flow-control"
        touches = "802.3x pause of the port is ignored from then on"
        yield step(f"PFC of {name}", words, (undo,), touches, port=name)
    on = lossless(lines)
    if wanted.priority not in on:
        one = f"{_OFF}priority-flow-control priority {wanted.priority}(?: drop)?"
        undo = _old(block.lines, one) or f"no priority-flow-control priority {wanted.priority}"
        yield step(
            f"priority {wanted.priority} of {name} without loss",
            WORDS["pfc priority"],
            (undo,),
            port=name,
            priority=wanted.priority,
        )
    for other in sorted(on - {wanted.priority}) if wanted.is_alone else ():
        own = _PRIORITY.format(priority=other)
        undo = own if own in block.lines else f"no priority-flow-control priority {other}"
        yield step(f"priority {other} of {name}", WORDS["pfc off"], (undo,), lossy(other), port=name, priority=other)
    if "priority-flow-control pause watchdog" not in lines:
        undo = (
            _old(block.lines, rf"{_OFF}priority-flow-control pause watchdog")
            or "no priority-flow-control pause watchdog"
        )
        yield step(f"watchdog of {name}", WORDS["watchdog"], (undo,), WATCHED, port=name)
    word = _word(block, saved.configuration or "")
    yield from _queue(wanted, name, block, profile, word)
    yield from _strict(name, block, profile, word, is_blank=saved.configuration is None)


def _word(block: Block, configuration: str) -> str:
    """Return how a port's queues are called there: as it calls another one, else as the device does."""
    own = [line.split()[0] for line in block.lines if re.fullmatch(r"(?:uc-)?tx-queue \d", line)]
    words = {*own} or {*re.findall(r"^\s+((?:uc-)?tx-queue) \d", configuration, re.MULTILINE)}
    return "uc-tx-queue" if words == {"uc-tx-queue"} else "tx-queue"


def _queue(wanted: Wanted, name: str, block: Block, profile: Block | None, word: str) -> Iterator[Step]:
    queue = wanted.priority
    own = _named_queue(block, queue, word)
    both = _both(_named_queue(profile, queue, word) if profile else None, own)
    as_there = own.line
    strict = _old(both, rf"{_OFF}priority(?: strict)?")
    share = _old(both, r"(?:no )?bandwidth percent.*")
    if strict != "no priority" or share is None or share.startswith("no "):
        undo = (
            _old(own.lines, r"(?:no )?bandwidth percent.*") or "no bandwidth percent",
            _old(own.lines, rf"{_OFF}priority(?: strict)?") or "default priority",
        )
        words = WORDS["share"].replace("tx-queue {queue}", as_there)
        touches = f"queue {queue} waits for the strict queues, and shares with the others what they leave"
        yield step(
            f"share of queue {queue} of {name}", words, undo, touches, port=name, queue=queue, share=SHARE_PERCENT
        )
    if not any(line.startswith("random-detect ecn minimum-threshold") for line in both):
        undo_ecn = _old(own.lines, r"no random-detect ecn.*threshold.*") or "no random-detect ecn"
        yield step(
            f"ECN of queue {queue} of {name}",
            WORDS["ecn"].replace("tx-queue {queue}", as_there), (undo_ecn,), port=name, queue=queue,
        )  # fmt: skip


def _strict(name: str, block: Block, profile: Block | None, word: str, *, is_blank: bool) -> Iterator[Step]:
    """Yield the strict order of the queue of CNP, which is what a queue has by itself."""
    own = _named_queue(block, CNP_PRIORITY, word)
    lines = _both(_named_queue(profile, CNP_PRIORITY, word) if profile else None, own)
    strict = rf"{_OFF}priority(?: strict)?"
    if is_blank or _old(lines, strict) == "no priority":
        words = WORDS["strict"].replace("tx-queue {queue}", own.line)
        undo = _old(own.lines, strict) or "default priority"
        yield step(f"strict order of queue {CNP_PRIORITY} of {name}", words, (undo,), STRICT_CNP, port=name)


def _named_queue(block: Block, queue: int, word: str) -> Block:
    names = (f"tx-queue {queue}", f"uc-tx-queue {queue}")
    return next((one for one in block.below if one.line in names), Block(f"{word} {queue}"))


def _old(lines: Sequence[str], pattern: str) -> str | None:
    """Return the last line of this kind: a later one overrules an earlier one."""
    found = [line for line in lines if re.fullmatch(pattern, line)]
    return found[-1] if found else None


def _proofs(ports: Mapping[str, Block]) -> tuple[str, ...]:
    each = [f"show interfaces {name} error-correction" for name in ports][:1]
    return (
        "show priority-flow-control",
        "show priority-flow-control counters | json",
        "show qos maps",
        "show qos interfaces",
        "show qos interfaces ecn counters queue | json",
        "show interfaces flow-control | json",
        "show interfaces | json",
        "show lldp neighbors detail | json",
        *each,
    )


def _remarks(
    wanted: Wanted, ports: Mapping[str, Block], profiles: Mapping[str, Block], tree: Sequence[Block]
) -> Iterator[str]:
    of_dscp = {at: at // 8 for at in range(64)} | classes([one.line for one in tree])
    alike = [at for at, tc in of_dscp.items() if at != wanted.dscp and tc == wanted.priority]
    if alike:
        yield (
            f"DSCP {listed(alike)} go to traffic class {wanted.priority} too:"
            " what is marked so becomes lossless with it"
        )
    on = {one for block in ports.values() for one in lossless(_both(_profile(block, profiles), block))}
    yield from wanted.staying(on)
    yield "headroom and thresholds (`platform trident mmu queue profile`) stay the platform's own"
    yield (
        "type it in a session that goes back by itself: `configure session roce`, `show session-config diffs`,"
        " `commit timer 00:05:00`"
    )


_write = partial(files, comment="!", suffix=".txt")
DIALECT = Dialect("eos", WORDS, _ready, _write, _PORT, "Ethernet1/1", MTU_BYTES)
