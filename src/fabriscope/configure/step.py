"""What is wanted of a fabric, and what a system's dialect makes of it: steps, each with what undoes it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch

from fabriscope.model.device import port_name
from fabriscope.model.errors import HostError, printable, shown
from fabriscope.model.host import HostFacts
from fabriscope.model.priorities import listed

CNP_DSCP, CNP_PRIORITY = 48, 6
"""Of the packets that ask a sender to slow down; what all vendors' guides have."""
ECN_KBYTES = (150, 1500)
"""Where marking begins and where every packet is marked: vendors' usual start values for 100 Gb/s."""
SHARE_PERCENT = 50
"""Of the data's queue, of what strict queues leave."""
WATCHED = "a port that is paused for too long drops what waits in the paused queue"
"""What a watchdog touches."""
STRICT_CNP = f"queue {CNP_PRIORITY} (CNP) goes before all that share"


def lossy(priority: int | str) -> str:
    """Return what it touches that a priority loses PFC."""
    return f"frames of priority {priority} are dropped where a buffer is full"


@dataclass(frozen=True)
class Wanted:
    """What both ends of every cable are to agree on."""

    priority: int = 3
    """Also the traffic class and the queue."""
    dscp: int = 26
    mtu_bytes: int = 9000
    """Of hosts; a switch is to carry at least as much."""
    is_alone: bool = False
    """Whether other priorities are to lose what they have of PFC."""
    fec: str = ""
    """`rs`, `fc` or `off`; empty: it stays as it is."""

    def staying(self, lossless: Iterable[int], of: str = "") -> Iterator[str]:
        """Yield the remark on other priorities that have PFC and keep it."""
        others = set() if self.is_alone else {*lossless} - {self.priority}
        if others:
            yield f"priority {listed(others)}{of} is lossless too and stays so; --alone takes that away"

    @property
    def tos(self) -> int:
        """Return the byte of the IP header: the DSCP, and ECT(0)."""
        return self.dscp << 2 | 2


@dataclass(frozen=True)
class Saved:
    """What is known of a device or a host, and which of its ports are meant."""

    name: str
    configuration: str | None = None
    """Its running configuration; None where it is not at hand: it is then taken for one without any setting."""
    known: HostFacts = field(default_factory=HostFacts)
    patterns: Sequence[str] = ()
    """Names of ports, `*` in them stands for anything; none: all that are not shut down."""
    ports: Sequence[str] = ()
    """Those that other outputs than the configuration tell of."""

    @property
    def is_blank(self) -> bool:
        """Return whether nothing is known of what is set."""
        return self.configuration is None and not self.known.facts

    def chosen(self, names: Iterable[str]) -> list[str]:
        """Return the names that are meant, in their order."""
        return [name for name in names if self.means(name)]

    def means(self, name: str) -> bool:
        """Return whether a port is meant."""
        wanted = [port_name(one) for one in self.patterns]
        return not wanted or any(fnmatch(port_name(name), one) for one in wanted)

    def named(self, usual: str) -> list[str]:
        """Return the ports of a device without a configuration: those told of, or named; else one for all."""
        return self.chosen(self.ports) if self.ports else [one for one in self.patterns if "*" not in one] or [usual]


@dataclass(frozen=True)
class Step:
    """One setting that is missing."""

    what: str
    do: tuple[str, ...]
    undo: tuple[str, ...]
    """Says again what stood there, or takes away what did not."""
    path: tuple[str, ...] = ()
    """The lines that lead to where it is typed, outermost first."""
    undo_path: tuple[str, ...] | None = None
    """Where that is another place for the undoing."""
    touches: str = ""
    """What else changes with it."""


@dataclass(frozen=True)
class Ready:
    """What a dialect has to say of one device or host."""

    steps: tuple[Step, ...] = ()
    proofs: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    """Assumptions, and what stays as it is though it may matter."""
    ports: tuple[str, ...] = ()
    """The ports that this is about."""
    there: tuple[str, ...] = ()
    """All ports that are known, shut down or not."""
    doubts: tuple[str, ...] = ()
    """What could not be told, or is refused, each in a sentence: not all that is missing may be here."""


@dataclass(frozen=True)
class Dialect:
    """How a system says its settings."""

    name: str
    words: Mapping[str, str]
    """A setting to how it is typed: `;` parts lines, PORT stands for a port's name, `{size}` and others for values."""
    ready: Callable[[Wanted, Saved], Ready]
    write: Callable[[Saved, Ready], Mapping[str, str]]
    """Returns the files: name to text."""
    port: str
    """A port's name, as a regular expression."""
    sample: str
    """The port that stands for all where none is known."""
    mtu_bytes: int = 9216
    """The most that a port takes."""
    priorities: range = range(8)
    """Those whose class and queue have their own number in the names of this system."""

    @property
    def is_host(self) -> bool:
        """Return whether hosts speak it: what is known of them are facts, not a configuration."""
        return self.name == "linux"


def all_ready(
    wanted: Wanted, chosen: Iterable[tuple[Dialect, Saved]]
) -> tuple[list[tuple[Dialect, Saved, Ready]], list[str]]:
    """Return what devices and hosts lack, and of those of which that cannot be told a sentence each."""
    every, unusable = [], []
    for dialect, saved in chosen:
        try:
            every.append((dialect, saved, made_ready(dialect, wanted, saved)))
        except HostError as error:
            unusable.append(printable(str(error)))
    return every, unusable


def made_ready(dialect: Dialect, wanted: Wanted, saved: Saved) -> Ready:
    """Return what a device or host lacks; raises HostError where its configuration has what no device prints."""
    try:
        ready = dialect.ready(wanted, saved)
    except ValueError as error:  # a value that no port, class or priority can have
        raise _unusable(dialect, saved, str(error)) from error
    lines = (line for one in ready.steps for line in (*one.path, *one.do, *one.undo))
    if odd := next((line for line in lines if not line.isprintable()), None):
        raise _unusable(dialect, saved, f"{shown(odd)} has a sign that nobody types")
    return ready


def _unusable(dialect: Dialect, saved: Saved, why: str) -> HostError:
    kind = "host" if dialect.is_host else "device"
    return HostError(f"nothing is written, {why}", where=f"{kind} {saved.name}", fix="save its configuration again")


def filled(words: str, port: str = "", **values: object) -> str:
    """Return a setting's words with a port's name for the word PORT, and values for what stands in braces."""
    return re.sub(r"\bPORT\b", lambda _: port, words.format(**values))


def phrase(words: str, port: str = "", **values: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines that lead to a setting, and those that make it."""
    parts = filled(words, port, **values).split("; ")
    leading = ("interface ", "policy-map ", "class-map ", "class ", "tx-queue ", "uc-tx-queue ", "system qos")
    count = next((at for at, part in enumerate(parts) if not part.startswith(leading)), len(parts))
    return tuple(parts[:count]), tuple(parts[count:])


def step(what: str, words: str, undo: Sequence[str], touches: str = "", port: str = "", **values: object) -> Step:
    """Return a step of a setting's words."""
    path, lines = phrase(words, port, **values)
    return Step(what, lines, tuple(undo), path, touches=touches)


def typed(steps: Iterable[Step], *, is_undo: bool = False) -> Iterator[str]:
    """Yield the lines of steps, indented below those that lead to them; the last step is undone first."""
    standing: tuple[str, ...] = ()
    for one in reversed(list(steps)) if is_undo else steps:
        path = one.undo_path if is_undo and one.undo_path is not None else one.path
        lines = one.undo if is_undo else one.do
        common = next((at for at, pair in enumerate(zip(path, standing, strict=False)) if pair[0] != pair[1]), None)
        common = min(len(path), len(standing)) if common is None else common
        if lines:
            yield from (f"{'   ' * at}{path[at]}" for at in range(common, len(path)))
            yield from (f"{'   ' * len(path)}{line}" for line in lines)
            standing = path


def files(
    saved: Saved, ready: Ready, *, comment: str, suffix: str, before: Sequence[str] = (), after: Sequence[str] = ()
) -> dict[str, str]:
    """Return what is typed, what undoes it and what proves it as three texts; of a device that is ready the last."""
    texts, of = {}, printable(" ".join(saved.name.split()))
    for name, is_undo in (("configure", False), ("undo", True)) if ready.steps else ():
        head = f"{comment} {of}: {'undoes configure' + suffix if is_undo else 'what is missing for RoCE v2'}"
        lines = [head, *before, *typed(ready.steps, is_undo=is_undo), *after]
        texts[f"{name}{suffix}"] = "\n".join(lines) + "\n"
    texts["prove.txt"] = "\n".join(ready.proofs) + "\n"
    return texts
