"""Cisco NX-OS of the Nexus 9000: policies that are bound are added to, others are made. From Cisco's QoS guide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from fabriscope.configure import fec
from fabriscope.configure.step import (
    ECN_KBYTES,
    SHARE_PERCENT,
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
from fabriscope.devices.nxos import dscps
from fabriscope.model.priorities import listed

MTU_BYTES = 9216
_PORT = r"Ethernet ?\d+(?:/\d+){1,2}"
"""Of a port: what has a dot in it is a subinterface, which takes no such settings."""
_LIMITS = f"minimum-threshold {ECN_KBYTES[0]} kbytes maximum-threshold {ECN_KBYTES[1]} kbytes"
_NETWORK_CLASS = "policy-map type network-qos POLICY; class type network-qos CLASS"
_WATCHDOG = "priority-flow-control watch-dog-interval on"
_MARKING = f"random-detect {_LIMITS} drop-probability 100 weight 0 ecn"
WORDS = {
    "mtu": f"interface PORT; mtu {{size}}; {_NETWORK_CLASS}; mtu {MTU_BYTES}",
    "mtu of port": "interface PORT; mtu {size}",
    "mtu of class": f"{_NETWORK_CLASS}; mtu {{size}}",
    "pfc on": f"{_NETWORK_CLASS}; pause pfc-cos {{priority}}; interface PORT; priority-flow-control mode on",
    "pfc class": f"{_NETWORK_CLASS}; pause pfc-cos {{priority}}",
    "pfc off": f"{_NETWORK_CLASS}; no pause pfc-cos {{priority}}",
    "pfc mode": "interface PORT; priority-flow-control mode on",
    "watchdog": f"{_WATCHDOG}; interface PORT; {_WATCHDOG}",
    "watchdog globally": _WATCHDOG,
    "watchdog of port": f"interface PORT; {_WATCHDOG}",
    "ecn": f"policy-map type queuing POLICY; class type queuing c-out-8q-q{{queue}}; {_MARKING}",
    "group": "policy-map type qos POLICY; class CLASS; set qos-group {priority}",
    "classify": "interface PORT; service-policy type qos input POLICY",
}


def _in(key: str, policy: str, of_class: str = "") -> str:
    return WORDS[key].replace("POLICY", policy).replace("CLASS", of_class)


def _ready(wanted: Wanted, saved: Saved) -> Ready:
    tree = blocks(saved.configuration or "")
    ports = _ports(tree, saved)
    steps = [*_classified(wanted, tree, ports), *_network(wanted, tree), *_queuing(wanted, tree)]
    if _WATCHDOG not in [one.line for one in tree]:
        off = f"no {_WATCHDOG}"
        steps.append(step("watchdog of the switch", WORDS["watchdog globally"], (off,), WATCHED))
    for name, block in ports.items():
        steps += _port(wanted, name, block)
        steps += fec.of_port(wanted.fec, name, block.lines, fec.NXOS, r"(?:no )?fec .*", "fec auto")
    there = tuple(name for name, _ in named(tree, "interface") if re.fullmatch(_PORT, name)) or tuple(ports)
    remarks = tuple(_remarks(wanted, tree))
    doubts = tuple(_doubts(wanted, tree, ports))
    return Ready(tuple(dict.fromkeys(steps)), _proofs(ports), remarks, tuple(ports), there, doubts)


def _ports(tree: Sequence[Block], saved: Saved) -> dict[str, Block]:
    """Return the ports that are meant; in place of members their port-channel, which alone takes such settings."""
    if saved.configuration is None:
        return {name: Block(f"interface {name}") for name in saved.named("Ethernet1/1")}
    every = dict(named(tree, "interface"))
    found = {}
    for name, block in every.items():
        if re.fullmatch(_PORT, name) and saved.means(name) and ("shutdown" not in block.lines or saved.patterns):
            group = after(block.lines, "channel-group")
            holder = f"port-channel{group.split()[0]}" if group else name
            if holder in every:
                found[holder] = every[holder]
    return found


def _port(wanted: Wanted, name: str, block: Block) -> Iterator[Step]:
    size = after(block.lines, "mtu")
    if size is None or int(size) < wanted.mtu_bytes:
        undo = f"mtu {size}" if size else "no mtu"
        yield step(f"MTU of {name}", WORDS["mtu of port"], (undo,), port=name, size=MTU_BYTES)
    mode = after(block.lines, "priority-flow-control mode")
    if mode is None or mode.split()[0] != "on":
        undo = f"priority-flow-control mode {mode}" if mode else "no priority-flow-control mode"
        touches = "802.3x pause of the port is ignored from then on; PFC no longer depends on the peer's DCBX"
        yield step(f"PFC of {name}", WORDS["pfc mode"], (undo,), touches, port=name)
    watched = after(block.lines, "priority-flow-control watch-dog-interval")
    if watched != "on":
        head = "priority-flow-control watch-dog-interval"
        undo = f"{head} {watched}" if watched else f"no {head} on"
        yield step(f"watchdog of {name}", WORDS["watchdog of port"], (undo,), port=name)


def _free(tree: Sequence[Block], head: str, name: str) -> str:
    """Return a name that no policy or class of a kind has: what is defined already may be meant for something else."""
    taken = {one.split()[-1] for one, _ in named(tree, head)}
    return next(one for one in (name, *(f"{name}-{at}" for at in range(2, 100))) if one not in taken)


def _classified(wanted: Wanted, tree: Sequence[Block], ports: Mapping[str, Block]) -> Iterator[Step]:
    """Yield what sorts packets of the DSCP into the group, on every port that does not."""
    matching = _matching(tree, wanted.dscp)
    policies = dict(named(tree, "policy-map type qos"))
    of_class = _free(tree, "class-map type qos", "ROCE")
    made = _free(tree, "policy-map type qos", "ROCE-IN")
    bound, of_switch = _bound(tree, ports), _policy(_of_system(tree), "qos input")
    lacking = {one for one in bound.values() if not _is_settled(policies.get(str(one)), matching, wanted.priority)}
    if lacking:
        path, lines = (f"class-map type qos match-all {of_class}",), (f"match dscp {wanted.dscp}",)
        yield Step(f"a class of DSCP {wanted.dscp}", lines, (f"no {path[0]}",), path, ())
    for policy in sorted(lacking, key=str):
        words = _in("group", policy or made, of_class)
        one = step(f"its group {wanted.priority}", words, (), priority=wanted.priority)
        undo, undo_path = (
            ((f"no class {of_class}",), one.path[:1]) if policy in policies else ((f"no {one.path[0]}",), ())
        )
        touches = f"every port that has the policy {policy}" if policy else ""
        touches += ", which the switch has for all ports without their own" if policy and policy == of_switch else ""
        yield Step(one.what, one.do, undo, one.path, undo_path, touches)
    for name, policy in bound.items():
        if policy is None:
            words = _in("classify", made)
            yield step(f"sorting on {name}", words, (f"no service-policy type qos input {made}",), port=name)


def _of_system(tree: Sequence[Block]) -> list[str]:
    return [line for one in tree if one.line == "system qos" for line in one.lines]


def _policy(lines: Sequence[str], kind: str) -> str | None:
    """Return the policy that is bound: its name is one word, behind which `no-stats` may stand."""
    words = (after(lines, f"service-policy type {kind}") or "").split()
    return words[0] if words else None


def _of_switch(tree: Sequence[Block], kind: str) -> Block | None:
    """Return the policy of a kind that the switch binds: what others say holds nowhere."""
    policies = dict(named(tree, f"policy-map type {kind.split()[0]}"))
    return policies.get(_policy(_of_system(tree), kind) or "")


def _bound(tree: Sequence[Block], ports: Mapping[str, Block]) -> dict[str, str | None]:
    """Return the policy that sorts what each port receives: its own, or that of the switch."""
    of_switch = _policy(_of_system(tree), "qos input")
    return {name: _policy(block.lines, "qos input") or of_switch for name, block in ports.items()}


def _matching(tree: Sequence[Block], dscp: int) -> set[str]:
    """Return the classes that match a DSCP."""
    return {
        name.split()[-1]
        for name, one in named(tree, "class-map type qos")
        for line in one.lines
        if line.startswith("match dscp ") and dscp in dscps(line.removeprefix("match dscp "))
    }


def _doubts(wanted: Wanted, tree: Sequence[Block], ports: Mapping[str, Block]) -> Iterator[str]:
    """Yield what is left to its owner: a class of another group that takes the DSCP, one that pauses others too."""
    matching, policies = _matching(tree, wanted.dscp), dict(named(tree, "policy-map type qos"))
    for name in sorted({one for one in _bound(tree, ports).values() if one is not None}):
        policy = policies.get(name)
        others = [] if _sorts(policy, matching, wanted.priority) else _other_groups(policy, matching)
        if others:
            yield (
                f"the policy {name} has DSCP {wanted.dscp} in the class {', '.join(others)}, not in group"
                f" {wanted.priority}: it stays so, and is yours to change, or choose another --dscp or --priority"
            )
    for name, on in _pausing(tree).items() if wanted.is_alone else ():
        if wanted.priority in on and len(on) > 1:
            kept = listed(on - {wanted.priority})
            yield f"the class {name} pauses priority {kept} in one line with {wanted.priority}: it stays lossless"


def _is_settled(policy: Block | None, matching: set[str], priority: int) -> bool:
    """Return whether a policy sorts the DSCP as wanted, or otherwise, which is left to its owner."""
    return _sorts(policy, matching, priority) or bool(_other_groups(policy, matching))


def _other_groups(policy: Block | None, matching: set[str]) -> list[str]:
    """Return the classes of a policy that match and set a group."""
    classes = [(one.line.split()[-1], one.lines) for one in (policy.below if policy is not None else ())]
    return [name for name, lines in classes if name in matching and after(lines, "set qos-group") is not None]


def _sorts(policy: Block | None, matching: set[str], priority: int) -> bool:
    wanted, classes = f"set qos-group {priority}", policy.below if policy is not None else ()
    return any(one.line.split()[-1] in matching and wanted in one.lines for one in classes)


def _network(wanted: Wanted, tree: Sequence[Block]) -> Iterator[Step]:
    """Yield what makes the class lossless and carry large frames, in the bound policy or in a new one."""
    policy = _of_switch(tree, "network-qos")
    touches = "the buffers are carved anew: traffic of all ports may stop for a moment"
    if policy is None:
        yield from _new_network(wanted, _free(tree, "policy-map type network-qos", "ROCE-NQ"), touches)
        return
    pausing = [one for one in policy.below if wanted.priority in dscps(after(one.lines, "pause pfc-cos") or "")]
    name = policy.line.split()[-1]
    usual = f"class type network-qos c-8q-nq{wanted.priority}"
    mine = pausing[0] if pausing else next((one for one in policy.below if one.line == usual), None)
    of_class = mine.line.split()[-1] if mine else usual.split()[-1]
    undo_path = None if mine else (policy.line,)
    if not pausing:
        undo = (f"no pause pfc-cos {wanted.priority}",) if mine else (f"no {usual}",)
        words = _in("pfc class", name, of_class)
        one = step(f"priority {wanted.priority} without loss", words, undo, priority=wanted.priority)
        yield Step(one.what, one.do, one.undo, one.path, undo_path, touches)
    size = after(mine.lines, "mtu") if mine else None
    if size is None or int(size) < wanted.mtu_bytes:
        old = (f"mtu {size}" if size else "no mtu",) if mine else ()
        yield step("MTU of its class", _in("mtu of class", name, of_class), old, touches, size=MTU_BYTES)
    for other in policy.below if wanted.is_alone else ():
        cos = after(other.lines, "pause pfc-cos")
        if cos and other not in pausing:
            what, pause = f"{other.line.split()[-1]} with loss", f"pause pfc-cos {cos}"
            yield Step(what, (f"no {pause}",), (pause,), (policy.line, other.line), touches=lossy(cos))


def _pausing(tree: Sequence[Block]) -> dict[str, set[int]]:
    """Return the classes that the switch makes lossless, each with its priorities."""
    policy = _of_switch(tree, "network-qos") or Block("")
    return {one.line.split()[-1]: dscps(after(one.lines, "pause pfc-cos") or "") for one in policy.below}


def _new_network(wanted: Wanted, name: str, touches: str) -> Iterator[Step]:
    head = f"policy-map type network-qos {name}"
    mine = (head, f"class type network-qos c-8q-nq{wanted.priority}")
    yield Step(f"priority {wanted.priority} without loss", (f"pause pfc-cos {wanted.priority}", f"mtu {MTU_BYTES}"),
               (f"no {head}",), mine, ())  # fmt: skip
    yield Step("MTU of all else", (f"mtu {MTU_BYTES}",), (), (head, "class type network-qos c-8q-nq-default"))
    bind = f"service-policy type network-qos {name}"
    yield Step("the policy for the switch", (bind,), (f"no {bind}",), ("system qos",), touches=touches)


def _queuing(wanted: Wanted, tree: Sequence[Block]) -> Iterator[Step]:
    policy = _of_switch(tree, "queuing output")
    of_class = f"c-out-8q-q{wanted.priority}"
    if policy is None:
        name = _free(tree, "policy-map type queuing", "ROCE-OUT")
        head = f"policy-map type queuing {name}"
        mine, bind = (head, f"class type queuing {of_class}"), f"service-policy type queuing output {name}"
        share = f"bandwidth remaining percent {SHARE_PERCENT}"
        yield Step(f"share and ECN of queue {wanted.priority}", (share, _MARKING), (f"no {head}",), mine, ())
        rest = f"bandwidth remaining percent {100 - SHARE_PERCENT}"
        yield Step("share of all else", (rest,), (), (head, "class type queuing c-out-8q-q-default"))
        touches = f"queue {wanted.priority} and the default queue share what is left, half each, on all ports"
        yield Step("the queues of the switch", (bind,), (f"no {bind}",), ("system qos",), touches=touches)
        return
    own = next((one for one in policy.below if one.line.split()[-1] == of_class), None)
    detect = after(own.lines, "random-detect") if own else None
    if detect is None or detect.split()[-1:] != ["ecn"]:
        usual = f"class type queuing {of_class}"
        undo = f"no {usual}" if own is None else f"random-detect {detect}" if detect else "no random-detect"
        path = (policy.line, own.line if own else usual)
        touches = f"every port: the policy {policy.line.split()[-1]} is bound to the switch"
        yield Step(f"ECN of queue {wanted.priority}", (_MARKING,), (undo,), path, None if own else path[:1], touches)


def _proofs(ports: Mapping[str, Block]) -> tuple[str, ...]:
    return (
        "show interface priority-flow-control",
        "show policy-map system type network-qos",
        "show policy-map system type queuing",
        *(f"show policy-map interface {name} input type qos" for name in [*ports][:1]),
        *(f"show queuing interface {name}" for name in [*ports][:1]),
        "show interface",
        "show lldp neighbors detail",
    )


def _remarks(wanted: Wanted, tree: Sequence[Block]) -> Iterator[str]:
    yield "with `checkpoint before-roce` before it, `rollback running-config checkpoint before-roce` undoes it as well"
    yield "packets that ask to slow down (CNP, DSCP 48) stay in the class that they have"
    output = _of_switch(tree, "queuing output") or Block("")
    for queue in output.below:
        if queue.line.endswith(f" c-out-8q-q{wanted.priority}") and after(queue.lines, "priority") is not None:
            name = output.line.split()[-1]
            yield f"queue {wanted.priority} goes before others (`priority` in the policy {name}) and stays so"
    yield from wanted.staying(cos for one in _pausing(tree).values() for cos in one)


_write = partial(files, comment="!", suffix=".txt")
DIALECT = Dialect("nxos", WORDS, _ready, _write, _PORT, "Ethernet1/1", MTU_BYTES, range(1, 8))
