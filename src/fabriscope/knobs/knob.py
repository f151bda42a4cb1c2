"""What a knob is, and the ways in which one is made: a file of the kernel, or what a program prints and takes."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fabriscope.hosts.access.journal import Change
from fabriscope.model.units import parse_duration_ns, parse_size_bytes

Scope = Literal["interface", "host", "machine"]
"""What has one value: an interface, a network namespace, or a whole machine with all that runs on it."""
Setting = str | int | float | bool
Reads = Callable[[Setting], str]
_DISRUPTIVE = "the link may go down for a moment"
_OF_ANY = "-k"
"""ethtool's option of what the kernel does itself; rings, pauses and interrupts are of a card."""


@dataclass(frozen=True)
class Knob:
    """One setting of a host."""

    name: str
    """As plans have it."""
    does: str
    """What it sets, and in which unit it may be written."""
    value: Reads
    """Returns what the host says once a value of a plan is set; raises ValueError for one that cannot be."""
    change: Callable[[str, str], Change]
    """Returns the change of an interface, which other scopes take no notice of, to a value as `value` gives it."""
    scope: Scope
    fact: str = ""
    """The fact of a host that tells it, `{interface}` in it: what an audit's finding is about."""
    touches: str = ""
    """What else changes for a moment."""
    needs_card: bool = False
    """Whether a virtual interface (veth), which has no card behind it, lacks it."""


def number(least: int, most: int = 2**31 - 1) -> Reads:
    """Return the reading of a whole number in a range."""

    def read(value: Setting) -> str:
        text = str(value)
        if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,18}", text):
            raise ValueError(f"{text!r} is no whole number from {least} to {most}")
        if not least <= int(text) <= most:
            raise ValueError(f"{text} is not from {least} to {most}")
        return str(int(text))

    return read


def size(least: int, most: int = 2**31 - 1) -> Reads:
    """Return the reading of a number of bytes: `64KiB` or 65536."""

    def read(value: Setting) -> str:
        size_bytes = parse_size_bytes(value if isinstance(value, int) else str(value))
        if not least <= size_bytes <= most:
            written = "" if str(value) == str(size_bytes) else f"{value} is "
            raise ValueError(f"{written}{size_bytes} B, which is not from {least} to {most} B")
        return str(size_bytes)

    return read


def microseconds(value: Setting) -> str:
    """Return whole microseconds of `50us`, or of a number of them; raises ValueError."""
    if isinstance(value, str) and not value.isdecimal():
        time_ns = parse_duration_ns(value)
        if time_ns % 1000:
            raise ValueError(f"{value!r} is no whole number of microseconds")
        value = time_ns // 1000
    return number(0, 10**7)(value)


def on_or_off(value: Setting) -> str:
    """Return `on` or `off`; YAML reads both as truths. Raises ValueError."""
    if value in (True, "on"):
        return "on"
    if value in (False, "off"):
        return "off"
    raise ValueError(f"{value!r} is neither on nor off")


def one_of(*values: str) -> Reads:
    """Return the reading of one of a few words."""

    def read(value: Setting) -> str:
        if value not in values:
            raise ValueError(f"{str(value)!r} is none of {', '.join(values)}")
        return str(value)

    return read


def word(value: Setting) -> str:
    """Return a name of the kernel's; raises ValueError for what is none."""
    if not isinstance(value, str) or not re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", value):
        raise ValueError(f"{value!r} is no name of one")
    return value


def of_file(name: str, does: str, path: str, value: Reads, scope: Scope, fact: str = "") -> Knob:
    """Return the knob of what stands in a file; `{interface}` in its path."""

    def change(interface: str, new: str) -> Change:
        return Change.of_file(_what(name, scope, interface), path.format(interface=interface), new)

    return Knob(name, does, value, change, scope, fact)


def of_ethtool(
    name: str, does: str, read: str, pattern: str, make: tuple[str, str], value: Reads, fact: str, *,
    is_mild: bool = True, needs_card: bool | None = None,
) -> Knob:  # fmt: skip
    """Return the knob of what ethtool prints with the option `read`, and sets with an option and a word.

    Unless `needs_card` says it, features (`-k`) need no card, and everything else does.
    """
    option, argument = make

    def change(interface: str, new: str) -> Change:
        words = ("ethtool", option, interface, argument)
        what = _what(name, "interface", interface)
        return Change(
            what, new, "", ("ethtool", read, interface), (*words, new), (*words, "{old}"), read_pattern=pattern
        )

    told_by, touches = f"interface.{{interface}}.{fact}", "" if is_mild else _DISRUPTIVE
    is_of_card = read != _OF_ANY if needs_card is None else needs_card
    return Knob(name, does, value, change, "interface", told_by, touches, is_of_card)


def of_script(
    name: str, does: str, read: tuple[str, ...], pattern: str, script: str, value: Reads, scope: Scope, fact: str
) -> Knob:
    """Return the knob that a line of shell sets, whose `$1` is the value."""

    def change(_: str, new: str) -> Change:
        words = ("sh", "-c", script, "sh")
        return Change(_what(name, scope, ""), new, "", read, (*words, new), (*words, "{old}"), read_pattern=pattern)

    return Knob(name, does, value, change, scope, fact)


def of_interface_scripts(name: str, does: str, read: str, make: str, value: Reads, *, is_mild: bool = True) -> Knob:
    """Return the knob of a card that one script of shell prints and another one sets; `$1` is its interface.

    `$2` is the value that is to be set.
    """

    def change(interface: str, new: str) -> Change:
        words = ("sh", "-c", make, "sh", interface)
        told = ("sh", "-c", read, "sh", interface)
        what = _what(name, "interface", interface)
        return Change(what, new, "", told, (*words, new), (*words, "{old}"), read_pattern=r"\A(\S+)\Z")

    return Knob(name, does, value, change, "interface", touches="" if is_mild else _DISRUPTIVE, needs_card=True)


def _what(name: str, scope: Scope, interface: str) -> str:
    return f"{name} of {interface}" if scope == "interface" else name
