"""What a reader of a system's outputs is, and what it writes its facts into."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from fabriscope.model.device import PORT, Device, port_name
from fabriscope.model.host import Fact, HostFacts
from fabriscope.model.priorities import listed

Value = str | int | bool


@dataclass(frozen=True)
class Output:
    """One command whose saved output is understood."""

    command: str
    is_it: Callable[[str], bool]
    """Whether a text is this command's output; a text that several systems claim is nobody's."""
    read: Callable[[str, Told], None]
    """Writes the facts of a text; raises ValueError or ParseError for one that is damaged."""


@dataclass(frozen=True)
class System:
    """What a kind of switch prints."""

    name: str
    outputs: Sequence[Output]
    configuration: str = ""
    """The command among them that prints all that is configured."""
    last_line: str = ""
    """The line that ends a whole configuration which `no` and the same words begin."""


@dataclass
class Told:
    """Facts of one device as its outputs tell them, one after the other."""

    source: str = ""
    """The command that is being read."""
    values: dict[str, Value] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    """What the reader of the output that is being read could not tell, in sentences."""

    def with_source(self, source: str) -> Told:
        """Return a copy that the next output is written into, and that is dropped where it is damaged."""
        return Told(source, dict(self.values), dict(self.sources), dict(self.conflicts))

    def tell(self, name: str, value: Value | None) -> None:
        """Write a fact of the whole device; two outputs that contradict each other leave it unknown."""
        if value is None:
            return
        known = self.values.get(name)
        if known is not None and (type(known), known) != (type(value), value):
            self.conflicts.setdefault(name, f"{self.sources[name]} says {known}, {self.source} says {value}")
        self.values.setdefault(name, value)
        self.sources.setdefault(name, self.source)

    def port(self, port: str, fact: str, value: Value | None) -> None:
        """Write a fact of a port, whose name may be one of its short forms."""
        self.tell(f"{PORT}.{port_name(port)}.{fact}", value)

    def device(self, name: str, system: str, problems: Iterable[str]) -> Device:
        """Return the device."""
        facts = [Fact("device.system", system)]
        for one, value in self.values.items():
            why = self.conflicts.get(one)
            facts.append(Fact(one, None, why) if why else Fact(one, value))
        said = [f"{one}: {why}" for one, why in self.conflicts.items()]
        return Device(name, system, HostFacts(tuple(facts)), dict(self.sources), (*problems, *said))


def numbers_of(text: str) -> str:
    """Return `3,4` of a list as `numbers_in` takes it; `none` of an empty one. Raises ValueError."""
    return listed(numbers_in(text))


def numbers_in(text: str) -> set[int]:
    """Return the numbers of a list with ranges (`3-4`, `3 4`, `none`); raises ValueError."""
    found: set[int] = set()
    for part in re.split(r"[,\s]+", text.strip()):
        first, dash, last = part.partition("-")
        if part and part.lower() not in ("none", "n/a", "-"):
            found.update(range(small(first), small(last if dash else first) + 1))
    return found


def small(text: str, most: int = 63) -> int:
    """Return a priority, a queue or a DSCP; raises ValueError for what is none."""
    if not re.fullmatch(r"[0-9]{1,2}", text.strip()) or int(text) > most:
        raise ValueError(f"{text[:20]!r} is not from 0 to {most}")
    return int(text)


def whole(text: str, most: int = 2**63 - 1) -> int:
    """Return a whole number, perhaps with commas between thousands; raises ValueError."""
    if not re.fullmatch(r"[0-9]{1,3}(,[0-9]{3})+|[0-9]{1,19}", text.strip()):
        raise ValueError(f"{text[:20]!r} is no whole number")
    number = int(text.replace(",", ""))
    if number > most:
        raise ValueError(f"{text[:20]!r} is more than {most}")
    return number


MOST_MTU_BYTES = 65535


def mtu(text: str) -> int:
    """Return an MTU; raises ValueError."""
    number = whole(text, MOST_MTU_BYTES)
    if number < 64:
        raise ValueError(f"{number} B is no MTU")
    return number
