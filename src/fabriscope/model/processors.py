"""Which processors each rank has: a pure function of what a machine has and of how many ranks run there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from fabriscope.model.errors import shown

AUTO, NONE, CORE, DEFAULT = "auto", "none", "core", "default"
WORDS = (AUTO, NONE, CORE, DEFAULT)
Wish = str | tuple[str, ...] | None
"""One of WORDS, or the processors of the first, second ... rank on every machine, each as the kernel writes lists;
DEFAULT, and None in older runs: nothing is said, and every program runs where its launcher and the system put it."""
MOST_SHOWN = 16
"""Ranks whose processors a text names."""
MOST = 8192
"""Processors that a kernel can be built for."""


@dataclass(frozen=True)
class Processors:
    """What a program may use of one machine, in the order in which ranks take it."""

    cores: tuple[int, ...]
    """A hardware thread of each core, one socket after the other."""
    siblings: tuple[int, ...] = ()
    """The cores' other hardware threads, in the same order."""

    @property
    def all(self) -> tuple[int, ...]:
        """Return every processor."""
        return self.cores + self.siblings

    def text(self) -> str:
        """Return it as the fact `cpu.order` has it: `0-3;4-7`."""
        return ";".join(listed(part) for part in (self.cores, self.siblings) if part)


@dataclass(frozen=True)
class Dealt:
    """The processors that the ranks of a launch are given."""

    rule: str
    """`core`, `list` or `none`."""
    processors: tuple[str, ...] = ()
    """Of each rank, as the kernel writes lists; empty: nobody is bound by us."""
    because: str = ""
    """Why nobody is, where that is not what was asked for."""
    switch: str = ""
    """Those of the lab's switch meanwhile; empty: all, or there is none."""
    is_forbidden: bool = False
    """Whether the MPI library is not to bind them either."""
    is_optional: bool = False
    """Whether ranks that their launcher does not let run there run where it does."""


def numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of `0-3,8`, in that order; raises ValueError."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first or (dash and not last):
            raise ValueError(f"{shown(part.strip())} is no processor and no range of them")
        low = _number(first)
        high = _number(last) if dash else low
        if high < low:
            raise ValueError(f"{shown(part.strip())} ends before it begins")
        found += range(low, high + 1)
    return tuple(found)


def _number(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text[:9]) >= MOST or len(text) > len(str(MOST)):
        raise ValueError(f"{shown(text)} is no number of a processor, which go from 0 to {MOST - 1}")
    return int(text)


def listed(processors: Iterable[int]) -> str:
    """Return `0-3,8` for these, in their order."""
    runs: list[list[int]] = []
    for processor in processors:
        if runs and processor == runs[-1][-1] + 1:
            runs[-1].append(processor)
        else:
            runs.append([processor])
    return ",".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def read(text: str) -> Processors:
    """Return what `Processors.text` wrote; raises ValueError."""
    cores, _, siblings = text.partition(";")
    return Processors(numbers(cores), numbers(siblings) if siblings else ())


def found(cpuinfo: str, allowed: Iterable[int]) -> Processors:
    """Return the processors of /proc/cpuinfo that are allowed, by socket, core and number.

    Where it names no cores (on many ARM machines) each processor is taken for one.
    """
    may_use = set(allowed)
    placed = sorted(place for place in _places(cpuinfo) if place[-1] in may_use)
    firsts: dict[tuple[int, int], int] = {}
    siblings = [number for *core, number in placed if firsts.setdefault((core[0], core[1]), number) != number]
    return Processors(tuple(firsts.values()), tuple(siblings))


def _places(cpuinfo: str) -> Iterator[tuple[int, int, int]]:
    """Yield socket, core and number of every processor."""
    for part in cpuinfo.strip().split("\n\n"):
        pairs = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in part.splitlines())}
        if (number := pairs.get("processor", "")).isdecimal():
            core, socket = pairs.get("core id", ""), pairs.get("physical id", "")
            yield int(socket) if socket.isdecimal() else 0, int(core) if core.isdecimal() else int(number), int(number)


def deal(wish: Wish, machines: Sequence[str], known: Mapping[str, Processors]) -> Dealt:
    """Return the processors of every rank, `machines` being where each runs.

    The first rank of a machine gets its first core, the second the second, one socket after the other; with more ranks
    than cores the other hardware threads of the cores follow, and then it begins anew. `auto` does so where every rank
    gets a core of its own, and else binds nobody. Raises ValueError for a list that does not fit.
    """
    if wish in (None, DEFAULT, NONE):
        return Dealt(NONE)
    if isinstance(wish, tuple):
        _refuse_too_few(wish, machines)
    unknown = next((name for name in machines if name not in known or not known[name].cores), None)
    if unknown is not None:
        return Dealt(NONE, because=f"the processors of {unknown or 'this machine'} are not known")
    places = _order_on_machine(machines)
    if isinstance(wish, tuple):
        return Dealt("list", tuple(_listed(wish, machine, place, known) for machine, place in places))
    crowded = next((name for name, count in Counter(machines).items() if count > len(known[name].cores)), None)
    if wish == AUTO and crowded is not None:
        ranks, cores = Counter(machines)[crowded], len(known[crowded].cores)
        return Dealt(NONE, because=f"{ranks} ranks share {cores} core{'s' if cores > 1 else ''}")
    given = tuple(str(known[name].all[place % len(known[name].all)]) for name, place in places)
    return Dealt(CORE, given, is_optional=wish == AUTO)


def _order_on_machine(machines: Sequence[str]) -> list[tuple[str, int]]:
    """Return for every rank its machine, and how many ranks before it run there."""
    before: Counter[str] = Counter()
    places = []
    for machine in machines:
        places.append((machine, before[machine]))
        before[machine] += 1
    return places


def _refuse_too_few(wish: tuple[str, ...], machines: Sequence[str]) -> None:
    """Raise ValueError where a machine has more ranks than a list has processors, whatever else is known of it."""
    crowded = next((name for name, count in Counter(machines).items() if count > len(wish)), None)
    if crowded is not None:
        named = "one rank" if len(wish) == 1 else f"{len(wish)} ranks"
        raise ValueError(f"bind names processors for {named}, and more of them run on {crowded or 'this machine'}")


def _listed(wish: tuple[str, ...], machine: str, place: int, known: Mapping[str, Processors]) -> str:
    where = machine or "this machine"
    absent = sorted(set(numbers(wish[place])) - set(known[machine].all))
    if absent:
        there = listed(sorted(known[machine].all))
        raise ValueError(f"bind names processor {listed(absent)}, and {where} lets this run use {there}")
    return wish[place]


def said_of(header: Mapping[str, object]) -> tuple[str, ...]:
    """Return where each rank could run, of what an engine said of its ranks; nothing unless every one says so."""
    ranks = header.get("ranks")
    each = ranks if isinstance(ranks, list) else []
    said = [rank.get("processors") if isinstance(rank, dict) else None for rank in each]
    return tuple(str(one) for one in said) if all(isinstance(one, str) for one in said) else ()


def of_ranks(processors: Sequence[str]) -> str:
    """Return them in words, of many ranks the first; of ranks that all have the same, those."""
    if len(set(processors)) == 1:
        return processors[0] if len(processors) == 1 else f"{processors[0]} (all ranks)"
    more = len(processors) - MOST_SHOWN
    return " | ".join(processors[:MOST_SHOWN]) + (f" | and {more} ranks more" if more > 0 else "")


def left_over(dealt: Iterable[Dealt], here: Processors) -> str:
    """Return the processors of this machine that no rank of these launches has; empty where there are none."""
    taken = {number for one in dealt for text in one.processors for number in numbers(text)}
    return listed(sorted(set(here.all) - taken))
