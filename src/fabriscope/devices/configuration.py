"""Running configurations that are made of lines and indentation, as a tree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from fabriscope.devices.system import Told, mtu

_BANNER = re.compile(
    r"^banner \w+[ \t]*\n(?:.*\n)*?EOF[ \t]*$"  # EOS: up to a line of its own
    r"|^banner \w+ (\^.|[^\s\w])(?:(?!\1)(?:.|\n))*\1",  # the others: up to the sign that it begins with
    re.MULTILINE,
)


@dataclass
class Block:
    """A line, and the lines that are indented below it."""

    line: str
    below: list[Block] = field(default_factory=list)

    @property
    def lines(self) -> Sequence[str]:
        """Return the lines directly below."""
        return [one.line for one in self.below]


def blocks(text: str) -> list[Block]:
    """Return the lines without indentation, each with what stands below it; comments and empty lines are left out.

    An interface that nothing follows may be cut, and what it lacks would be taken for a default: it is left out, unless
    the text ends with `end` or a comment's sign, as a whole configuration of some systems does.
    """
    top: list[Block] = []
    open_blocks: list[tuple[int, Block]] = []
    for raw in without_banners(text).splitlines():
        line = raw.strip()
        if not line or line.startswith(("!", "#")):
            continue
        depth = len(raw) - len(raw.lstrip())
        while open_blocks and open_blocks[-1][0] >= depth:
            open_blocks.pop()
        block = Block(" ".join(line.split()))
        (open_blocks[-1][1].below if open_blocks else top).append(block)
        open_blocks.append((depth, block))
    return top[:-1] if top and _may_be_cut(top[-1], text) else top


def without_banners(text: str) -> str:
    """Return a configuration without what its banners say, in which lines may look like any other."""
    return _BANNER.sub("", text)


def cut_off(text: str) -> str:
    """Return the line of the interface that `blocks` leaves out since it may be cut; empty where it leaves out none."""
    heads = [
        line
        for line in without_banners(text).splitlines()
        if line.strip() and not line[0].isspace() and line[0] not in "!#"
    ]
    return heads[-1].strip() if heads and _may_be_cut(Block(heads[-1]), text) else ""


def _may_be_cut(last: Block, text: str) -> bool:
    is_closed = text.rstrip().rpartition("\n")[2].strip() in ("!", "end")
    return last.line.startswith("interface ") and not is_closed


def named(tree: Sequence[Block], head: str) -> Iterator[tuple[str, Block]]:
    """Yield the blocks whose line begins with words, and what follows them."""
    for one in tree:
        if one.line.startswith(f"{head} "):
            yield one.line[len(head) + 1 :].strip(), one


def after(lines: Sequence[str], head: str) -> str | None:
    """Return what follows words in the last line that begins with them: a later line overrules an earlier one."""
    found = [line[len(head) :].strip() for line in lines if line == head or line.startswith(f"{head} ")]
    return found[-1] if found else None


def is_port(name: str, *kinds: str) -> bool:
    """Return whether an interface is a port of one of these kinds; one with a dot in its name is a part of a port."""
    return name.startswith(kinds) and "." not in name


def tell_common(port: str, lines: Sequence[str], told: Told) -> None:
    """Tell what systems of this kind write alike of a port: its MTU, pause frames, and whether it is shut down."""
    told.port(port, "mtu_bytes", mtu(size) if (size := after(lines, "mtu")) else None)
    for word, fact in (("receive", "rx_pause"), ("send", "tx_pause")):
        state = after(lines, f"flowcontrol {word}")
        told.port(port, fact, state == "on" if state in ("on", "off") else None)
    told.port(port, "is_enabled", "shutdown" not in lines)
