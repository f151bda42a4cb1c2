"""What a device would make of the files: small appliers of each text format, which know nothing of the dialects."""

from __future__ import annotations

import copy
import json
import re
import shlex
from typing import Any

import yaml

from fabriscope import devices
from fabriscope.configure.step import Ready, Saved, Wanted
from fabriscope.model.device import Device
from fabriscope.model.host import HostFacts
from fabriscope.registry import discover

Tree = dict[str, Any]
"""Line to what stands below it."""
_SINGLE = (
    "mtu", "qos trust", "bandwidth percent", "bandwidth remaining percent", "priority-flow-control mode",
    "priority-flow-control watch-dog-interval", "service-policy type network-qos", "service-policy type queuing output",
    "service-policy type qos input", "random-detect", "set qos-group",
)  # fmt: skip
"""Settings that stand once in a place, whatever their value."""
_LEADS = (
    "interface ",
    "policy-map ",
    "class-map ",
    "class ",
    "tx-queue ",
    "uc-tx-queue ",
    "system qos",
    "qos profile ",
)


def ready(system: str, name: str, text: str | None, wanted: Wanted, *ports: str) -> tuple[Ready, dict[str, str]]:
    """Return the steps of a configuration, and the files."""
    dialect = discover("configure", "DIALECT").plugins[system]
    saved = Saved(name, text, HostFacts(), ports)
    found = dialect.ready(wanted, saved)
    return found, dict(dialect.write(saved, found))


def facts(text: str) -> Device:
    return devices.of_texts("leaf1", [("file", text)])


def parsed(text: str) -> Tree:
    """Return lines and indentation as a tree; comments are no part of it."""
    top: Tree = {}
    stack: list[tuple[int, Tree]] = [(-1, top)]
    for raw in text.splitlines():
        line = " ".join(raw.split())
        if not line or line.startswith(("!", "#")):
            continue
        depth = len(raw) - len(raw.lstrip())
        while stack[-1][0] >= depth:
            stack.pop()
        stack.append((depth, stack[-1][1].setdefault(line, {})))
    return top


def printed(tree: Tree, depth: int = 0) -> str:
    lines = []
    for line, below in tree.items():
        lines += [f"{'   ' * depth}{line}", printed(below, depth + 1)]
    text = "\n".join(filter(None, lines))
    return f"{text}\n!\n" if depth == 0 else text


def cleaned(tree: Tree) -> Tree:
    """Return a tree without contexts in which nothing stands: they say nothing."""
    found = {line: cleaned(below) for line, below in tree.items()}
    return {
        line: below
        for line, below in found.items()
        if below or not line.startswith(("tx-queue ", "class ", "system qos"))
    }


def _key(line: str) -> str:
    """Return what two lines share of which the later takes the place of the earlier."""
    bare = re.sub(r"^(no|default) ", "", line)
    if re.fullmatch(r"priority-flow-control( mode)?( on| off)?", bare):
        return "pfc"
    if match := re.fullmatch(r"priority-flow-control priority (\d)( no-drop| drop)?", bare):
        return f"pfc {match[1]}"
    if match := re.match(r"qos map (dscp|traffic-class) (\d+)", bare):
        return f"{match[1]} {match[2]}"
    if re.fullmatch(r"priority( strict)?", bare):
        return "order"
    return next((head for head in _SINGLE if bare == head or bare.startswith(f"{head} ")), bare)


def typed_in(tree: Tree, text: str) -> Tree:
    """Return a tree as it is after lines were typed, as EOS and NX-OS take them."""
    new = copy.deepcopy(tree)
    _typed(new, parsed_in_order(text))
    return new


def parsed_in_order(text: str) -> list[tuple[str, list[Any]]]:
    """Return lines with what stands below them, repeated contexts one by one."""
    top: list[tuple[str, list[Any]]] = []
    stack: list[tuple[int, list[Any]]] = [(-1, top)]
    for raw in text.splitlines():
        if not raw.strip() or raw.startswith("!"):
            continue
        depth = len(raw) - len(raw.lstrip())
        while stack[-1][0] >= depth:
            stack.pop()
        below: list[Any] = []
        stack[-1][1].append((raw.strip(), below))
        stack.append((depth, below))
    return top


def _typed(here: Tree, lines: list[tuple[str, list[Any]]]) -> None:
    for line, below in lines:
        if line.startswith(_LEADS):
            _typed(here.setdefault(line, {}), below)
            continue
        bare = re.sub(r"^(no|default) ", "", line)
        if bare != line and bare.startswith(_LEADS):
            here.pop(bare, None)
            continue
        assert not below, f"{line} leads nowhere"
        is_global = bare.startswith("priority-flow-control watch-dog") or bare == "priority-flow-control all off"
        for old in [
            one for one in here if not here[one] and ((_key(one) == _key(line) and not is_global) or one == bare)
        ]:
            del here[old]
        # What is spelled out in `show running-config all` stays spelled out; else the default is no line.
        if bare == line or line in ("no priority",):
            here[line] = {}


def onyx_typed(text: str, typed: str) -> str:
    """Return a running configuration of Onyx after full lines were typed, ports one by one."""
    return "\n".join(
        ["no cli default prefix-modes enable", *_onyx(_onyx([], text), typed), "cli default prefix-modes enable", ""]
    )


def onyx_lines(text: str) -> list[str]:
    return sorted(_onyx([], text))


def _onyx(lines: list[str], typed: str) -> list[str]:
    found = list(lines)
    for raw in typed.splitlines():
        line = " ".join(raw.split())
        if not line or line.startswith("#") or "prefix-modes" in line:
            continue
        match = re.fullmatch(r"interface ethernet (\d+)/(\d+)(?:-\d+/(\d+))? (.*)", line)
        heads = (
            [f"interface ethernet {match[1]}/{at} " for at in range(int(match[2]), int(match[3] or match[2]) + 1)]
            if match
            else [""]
        )
        words = match[4] if match else line
        for head in heads:
            _onyx_one(found, head, words)
    return found


def _onyx_one(lines: list[str], head: str, words: str) -> None:
    bare = words.removeprefix("no ").removesuffix(" force")
    once = r"mtu|qos trust|dcb priority-flow-control mode|traffic-class \d congestion-control|qos map dscp \d+"
    once += r"|traffic pool \S+ type"
    match = re.match(once, bare)
    single = match[0] if match else bare
    if words == "no traffic pool roce":
        single = "traffic pool roce"
    for old in [
        one for one in lines if one.startswith(f"{head}{single}") and (head or not one.startswith("interface"))
    ]:
        lines.remove(old)
    if not words.startswith("no "):
        lines.append(f"{head}{words}")


def patched(tables: Tree, operations: str) -> Tree:
    """Return a document after a JSON patch (RFC 6902: add, replace, remove)."""
    new = copy.deepcopy(tables)
    for one in json.loads(operations):
        *path, last = (part.replace("~1", "/").replace("~0", "~") for part in one["path"][1:].split("/"))
        here = new
        for part in path:
            here = here[part]
        assert one["op"] == "add" or last in here, one
        if one["op"] == "remove":
            del here[last]
        else:
            here[last] = one["value"]
    return new


def hset(tables: Tree, script: str) -> Tree:
    """Return a database after `sonic-db-cli CONFIG_DB hset` lines."""
    new = copy.deepcopy(tables)
    for line in script.splitlines():
        words = shlex.split(line, comments=True)
        if words[:3] == ["sonic-db-cli", "CONFIG_DB", "hset"]:
            table, _, key = words[3].partition("|")
            new.setdefault(table, {}).setdefault(key, {}).update(zip(words[4::2], words[5::2], strict=True))
    return new


def nv_typed(tree: Tree, script: str) -> Tree:
    """Return what NVUE has set after `nv set` and `nv unset` lines."""
    new = copy.deepcopy(tree)
    for line in script.splitlines():
        words = line.split()
        if words[:2] == ["nv", "set"]:
            here = new
            for part in words[2:-2]:
                here = here.setdefault(part, {})
            here = here if isinstance(here, dict) else {}
            if words[-2] == "switch-priority" and "pfc" in words:
                here.setdefault("switch-priority", {})[words[-1]] = {}
            else:
                here[words[-2]] = int(words[-1]) if words[-1].isdecimal() else words[-1]
            if words[2:4] == ["qos", "roce"] and len(words) == 6:
                here.setdefault("enable", "on")
        elif words[:2] == ["nv", "unset"]:
            here = new
            for part in words[2:-1]:
                here = here.get(part, {})
            here.pop(words[-1], None)
    return new


def nv_text(tree: Tree) -> str:
    return yaml.safe_dump([{"set": tree}])
