"""What a plan sets on hosts for launches: set before them, kept while they follow each other, put back after them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from fabriscope import plan as plans
from fabriscope.hosts import access
from fabriscope.hosts.access import changes
from fabriscope.knobs import Knob, knobs
from fabriscope.launch.site import Site
from fabriscope.model.case import Entry
from fabriscope.model.errors import HostError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import HERE, Host
from fabriscope.plan.schema import FabricSection, MpiSection

_MOST_AT_ONCE = 16
LINK_TIMEOUT_S = 20.0
"""For a link that a setting has taken down to be up again."""
_LINK_PAUSE_S = 0.2


@dataclass(frozen=True)
class Wanted:
    """One setting of one host."""

    host: Host
    knob: Knob
    interface: str
    value: str

    @property
    def change(self) -> changes.Change:
        """Return how it is made."""
        return self.knob.change(self.interface, self.value)


def values_of(section: FabricSection | MpiSection) -> dict[str, str]:
    """Return what a fabric or an MPI library of a plan sets, as hosts say it."""
    return plans.set_values(section, {name: knob.value for name, knob in knobs().items()})


def wanted(settings: Mapping[str, str], interfaces: Mapping[str, str], hosts: Iterable[Host]) -> list[Wanted]:
    """Return what is to be set on some hosts, each once; raises HostError for one of an interface that is not used.

    Hosts of a lab that are namespaces share this machine: what a machine has once is set here.
    """
    found: dict[tuple[str, str], Wanted] = {}
    for name, value in settings.items():
        knob = knobs()[name]
        for host in hosts:
            where = HERE if knob.scope == "machine" and host.kind == "namespace" else host
            interface = interfaces.get(host.name, "") if knob.scope == "interface" else ""
            if knob.scope == "interface" and not interface:
                raise HostError(f"{name} is set of an interface, and launches here use none", where=f"host {host.name}")
            found.setdefault((where.name, f"{name} {interface}"), Wanted(where, knob, interface, value))
    return list(found.values())


class Standing:
    """What is set at the moment; of one run, whose launches may be measured by several threads."""

    def __init__(self, site: Site) -> None:
        """Nothing is set yet."""
        self._site = site
        self._lock = threading.Lock()
        self._stack = contextlib.ExitStack()
        self._key: tuple[Mapping[str, str], tuple[str, ...]] | None = None

    def hold(self, entry: Entry) -> None:
        """Set what the fabric and the library of an entry want on its hosts, and put back what another one wanted.

        Raises HostError or ToolMissing where something cannot be set, or cannot be put back.
        """
        fabric = self._site.fabrics[entry.fabric] if entry.fabric else None
        names = tuple(dict.fromkeys(entry.hosts))
        settings = dict(fabric.knobs) if fabric is not None else {}
        settings |= self._site.mpi[entry.mpi].knobs if entry.mpi else {}
        key = (settings, (entry.fabric or "", *names)) if settings else None
        with self._lock:
            if key == self._key:
                return
            self._end()
            if key is not None:
                interfaces = fabric.interfaces if fabric is not None else {}
                self._set(wanted(settings, interfaces, [self._site.hosts[name] for name in names]))
                self._key = key

    def _set(self, every: list[Wanted]) -> None:
        """Set all or nothing."""
        with contextlib.ExitStack() as stack, ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
            by_host: dict[str, list[Wanted]] = {}
            for one in every:
                by_host.setdefault(one.host.name, []).append(one)
            # All hosts at once, each in the plan's order: what was set last on a host is put back first.
            futures = [pool.submit(_entered, of_host) for of_host in by_host.values()]
            problems = []
            for future in futures:
                try:
                    stack.push(future.result())
                except (HostError, ToolMissing) as error:
                    problems.append(error.sentence())
            problems = problems or [sentence for of_host in pool.map(_undone, by_host.values()) for sentence in of_host]
            if problems:
                raise HostError("; ".join(problems))
            await_links(every)
            self._stack = stack.pop_all()

    def end(self) -> str:
        """Put everything back; return what of it was not, in sentences."""
        with self._lock:
            try:
                self._end()
            except (HostError, ToolMissing) as error:
                return error.sentence()
        return ""

    def _end(self) -> None:
        self._key = None
        self._stack.pop_all().close()


def _entered(of_host: list[Wanted]) -> contextlib.ExitStack:
    """Return the settings of one host, made one after the other; raises as `changed`, with nothing left set."""
    with contextlib.ExitStack() as stack:
        for one in of_host:
            stack.enter_context(changes.changed(one.host, one.change))
        return stack.pop_all()


def _undone(of_host: list[Wanted]) -> list[str]:
    """Return a sentence for each setting of one host that another one, made after it, has changed again."""
    if len(of_host) < 2:
        return []
    host, every = of_host[0].host, [one.change for one in of_host]
    files = tuple(one.path for one in every if not one.read_argv)
    commands = tuple(dict.fromkeys(one.read_argv for one in every if one.read_argv))
    said = access.read(host, access.Wanted(globs=files, commands=commands))
    found = []
    for one in every:
        text = said.output(" ".join(one.read_argv))[0] if one.read_argv else said.files.get(one.path, "")
        if (now := one.value_in(text)) is not None and text and now != one.new:
            found.append(f"{one.what} reads {now!r} after {one.new!r} and other settings were set (host {host.name})")
    return found


def await_links(every: list[Wanted]) -> None:
    """Wait for links that a setting may have taken down; raises HostError where one does not come back."""
    for one in (one for one in every if one.knob.touches):
        path = f"/sys/class/net/{one.interface}/operstate"
        until_s = time.monotonic() + LINK_TIMEOUT_S
        while access.read(one.host, access.Wanted(globs=(path,))).files.get(path, "").strip() == "down":
            if time.monotonic() > until_s:
                what = f"{one.interface} is not up again {LINK_TIMEOUT_S:.0f} s after {one.knob.name} was set"
                raise HostError(what, where=f"host {one.host.name}")
            time.sleep(_LINK_PAUSE_S)


def described(fabrics: Iterable[Fabric]) -> Iterator[str]:
    """Yield what would be set, a line for each setting of a fabric."""
    for fabric in fabrics:
        for name, value in fabric.knobs.items():
            yield described_one(fabric, name, value, f"launches over {fabric.name}")


def described_libraries(
    stacks: Iterable[MpiSection], fabrics: Collection[Fabric], hosts: Iterable[str]
) -> Iterator[str]:
    """Yield what would be set for MPI libraries, a line for each setting and fabric; inside a host there is none."""
    inside = Fabric("", dict.fromkeys(hosts, ""))
    for stack in stacks:
        over = [one for one in fabrics if stack.fabrics is None or one.name in stack.fabrics]
        for name, value in values_of(stack).items():
            for fabric in over if over and knobs()[name].scope == "interface" else [inside]:
                purpose = f"launches of {stack.name}{f' over {fabric.name}' if fabric.name else ''}"
                yield described_one(fabric, name, value, purpose)


def described_one(fabric: Fabric, name: str, values: str, purpose: str) -> str:
    """Return what would be set on which hosts, what for, and that it is put back."""
    knob = knobs()[name]
    hosts = ", ".join(fabric.interfaces)
    hosts = f"the machines of {hosts}, for all that runs there," if knob.scope == "machine" else hosts
    where = ", ".join(sorted(set(fabric.interfaces.values()))) if knob.scope == "interface" else ""
    touches = f" ({knob.touches})" if knob.touches else ""
    return (
        f"sets {name}{f' of {where}' if where else ''} to {values} on {hosts} for {purpose}, and puts it back{touches}"
    )
