"""What a plan sets on hosts for launches: set before them, kept while they follow each other, put back after them."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
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
from fabriscope.plan.schema import FabricSection

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


def values_of(section: FabricSection) -> dict[str, str]:
    """Return what a fabric of a plan sets, as hosts say it."""
    return plans.set_values(section, {name: knob.value for name, knob in knobs().items()})


def wanted(fabric: Fabric, hosts: Iterable[Host]) -> list[Wanted]:
    """Return what is to be set for launches over a fabric on some hosts, each once.

    Hosts of a lab that are namespaces share this machine: what a machine has once is set here.
    """
    found: dict[tuple[str, str], Wanted] = {}
    for name, value in fabric.knobs.items():
        knob = knobs()[name]
        for host in hosts:
            where = HERE if knob.scope == "machine" and host.kind == "namespace" else host
            interface = fabric.interfaces[host.name] if knob.scope == "interface" else ""
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
        """Set what the fabric of an entry wants on its hosts, and put back what another one wanted.

        Raises HostError or ToolMissing where something cannot be set, or cannot be put back.
        """
        fabric = self._site.fabrics[entry.fabric] if entry.fabric else None
        names = tuple(dict.fromkeys(entry.hosts))
        key = (fabric.knobs, (fabric.name, *names)) if fabric is not None and fabric.knobs else None
        with self._lock:
            if key == self._key:
                return
            self._end()
            if fabric is not None and key is not None:
                self._set(wanted(fabric, [self._site.hosts[name] for name in names]))
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
            if problems:
                raise HostError("; ".join(problems))
            _await_links(every)
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


def _await_links(every: list[Wanted]) -> None:
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
            knob = knobs()[name]
            hosts = ", ".join(fabric.interfaces)
            hosts = f"the machines of {hosts}, for all that runs there," if knob.scope == "machine" else hosts
            where = ", ".join(sorted(set(fabric.interfaces.values()))) if knob.scope == "interface" else ""
            touches = f" ({knob.touches})" if knob.touches else ""
            yield (
                f"sets {name}{f' of {where}' if where else ''} to {value} on {hosts} for launches over {fabric.name},"
                f" and puts it back{touches}"
            )
