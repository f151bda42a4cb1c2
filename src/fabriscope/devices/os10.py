"""Dell OS10: the running configuration."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from fabriscope.devices.configuration import Block, after, blocks, named
from fabriscope.devices.system import Output, System, Told, mtu, numbers_in, small
from fabriscope.model.priorities import listed, paired

_HEADER_BYTES = 32
"""A port with its default tells `MTU 1532 bytes, IP MTU 1500 bytes`; payload is what other systems count."""
_KINDS = ("qos", "network-qos", "queuing")
_DEFAULTS = {"default", "class-default", "class-trust", "default_dot1p", "default_dscp"}
_BOUND = re.compile(r"service-policy (?:input|output) type (\S+) (\S+)")
_PORT = re.compile(r"ethernet\d+/\d+/\d+(:\d+)?|port-channel\d+")


def _configuration(text: str, told: Told) -> None:
    tree = blocks(text)
    top = [one.line for one in tree]
    told.tell("device.host_name", after(top, "hostname"))
    if match := re.search(r"^! Version (\S+)", text, re.MULTILINE):
        told.tell("device.version", match[1])
    told.tell("device.dcbx_enabled", "dcbx enable" in top)
    system = [line for one in tree if one.line == "system qos" for line in one.lines]
    ports = [(name, block) for name, block in named(tree, "interface") if _PORT.fullmatch(name)]
    used = [*system, *(line for _, block in ports for line in block.lines)]
    if ports:
        told.tell("device.undefined_names", " ".join(sorted(set(_undefined(tree, used)))) or "none")
    policies = dict(named(tree, "policy-map type network-qos"))
    for name, block in ports:
        _port(name, list(block.lines), told)
        bound = _policies([*system, *block.lines]).get("network-qos")
        if after(block.lines, "priority-flow-control mode") == "on" and (bound is None or bound in policies):
            told.port(name, "pfc_priorities", _paused(policies[bound]) if bound else "none")
        _trust(name, [*system, *block.lines], tree, told)


def _port(name: str, lines: Sequence[str], told: Told) -> None:
    size = after(lines, "mtu")
    told.port(name, "mtu_bytes", mtu(size) - _HEADER_BYTES if size else None)
    told.port(name, "is_enabled", "shutdown" not in lines)
    mode = after(lines, "priority-flow-control mode") or "off"
    told.port(name, "pfc_mode", mode)
    if mode == "off":
        told.port(name, "pfc_priorities", "none")
    for word, fact in (("receive", "rx_pause"), ("transmit", "tx_pause")):
        state = after(lines, f"flowcontrol {word}")
        told.port(name, fact, state == "on" if state in ("on", "off") else None)


def _paused(policy: Block) -> str:
    """Return the priorities of the classes that are paused."""
    paused = [after(one.lines, "pfc-cos") for one in policy.below if "pause" in [line.split()[0] for line in one.lines]]
    return listed(set().union(*(numbers_in(cos) for cos in paused if cos)))


def _trust(name: str, lines: Sequence[str], tree: Sequence[Block], told: Told) -> None:
    """Tell whether a port goes by the DSCP or by the priority of a tag, and which group a DSCP goes to."""
    for kind, word in (("dscp", "dscp"), ("dot1p", "cos")):
        used = after(lines, f"trust-map {kind}")
        if used is None:
            continue
        told.port(name, "trust", word)
        defined = dict(named(tree, f"trust {kind}-map")).get(used)
        if kind == "dscp" and defined is not None:
            rows = (re.fullmatch(r"qos-group (\d) dscp (\S+)", line) for line in defined.lines)
            of_dscp = {dscp: small(row[1], 7) for row in rows if row for dscp in numbers_in(row[2])}
            told.port(name, "dscp_to_priority", paired(of_dscp))
        return


def _policies(lines: Sequence[str]) -> Mapping[str, str]:
    """Return kind to name of the policies that lines bind; a later line overrules an earlier one."""
    return {match[1]: match[2] for line in lines if (match := _BOUND.fullmatch(line))}


def _undefined(tree: Sequence[Block], used: Sequence[str]) -> Iterator[str]:
    """Yield what is bound, or used by a policy, and defined nowhere."""
    for kind in _KINDS:
        policies = dict(named(tree, f"policy-map type {kind}"))
        classes = {name.split()[0] for name, _ in named(tree, f"class-map type {kind}")}
        bound = {match[2] for line in used if (match := _BOUND.fullmatch(line)) and match[1] == kind}
        yield from bound - policies.keys() - _DEFAULTS
        for block in policies.values():
            yield from {name for name, _ in named(block.below, "class")} - classes - _DEFAULTS
    for head, defined in (
        ("trust-map dot1p", "trust dot1p-map"), ("trust-map dscp", "trust dscp-map"),
        ("qos-map traffic-class", "qos-map traffic-class"),
    ):  # fmt: skip
        names = {line[len(head) :].strip() for line in used if line.startswith(f"{head} ")}
        yield from names - {name for name, _ in named(tree, defined)} - _DEFAULTS


def _is_configuration(text: str) -> bool:
    return bool(re.search(r"^interface ethernet\d+/\d+/\d+(:\d+)?$", text, re.MULTILINE)) and "feature " not in text


SYSTEM = System("os10", (Output("show running-configuration", _is_configuration, _configuration),))
