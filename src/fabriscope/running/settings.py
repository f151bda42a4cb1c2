"""What a plan sets on hosts for launches: set before them, kept while they follow each other, put back after them."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from fabriscope import plan as plans
from fabriscope.hosts import access
from fabriscope.hosts.access import changes
from fabriscope.knobs import knobs, readers, switch
from fabriscope.launch.site import Site
from fabriscope.model.case import Entry
from fabriscope.model.command import Outcome
from fabriscope.model.errors import HostError, ToolMissing
from fabriscope.model.fabric import Fabric
from fabriscope.model.host import HERE, Host
from fabriscope.model.mpi_settings import MPI_SETTINGS, on_hosts
from fabriscope.model.switch_settings import SWITCH_SETTINGS, SwitchPlace
from fabriscope.plan.mpi_schema import MpiSection
from fabriscope.plan.schema import FabricSection
from fabriscope.running.library_settings import ReadBack

_MOST_AT_ONCE = 16
LINK_TIMEOUT_S = 20.0
"""For a link that a setting has taken down to be up again."""
_LINK_PAUSE_S = 0.2


@dataclass(frozen=True)
class Wanted:
    """One setting of one host, or of a switch of the lab."""

    host: Host
    name: str
    value: str
    """As plans have it."""
    change: changes.Change
    touched: str = ""
    """The interface that it may take down for a moment."""

    def as_plans_have_it(self, text: str) -> str:
        """Return what the host says of the setting as a plan says it."""
        return switch.told(SWITCH_SETTINGS[self.name], text) if self.name in SWITCH_SETTINGS else text


def values_of(section: FabricSection | MpiSection) -> dict[str, str]:
    """Return what a fabric or an MPI library of a plan sets, as hosts say it."""
    return plans.set_values(section, readers())


def with_knobs(fabric: Fabric, values: Mapping[str, str]) -> Fabric:
    """Return a fabric with settings, and the MTU and line rate that it has with them."""
    mtu_bytes = int(values.get("mtu", fabric.mtu_bytes or 0)) if fabric.mtu_bytes else fabric.mtu_bytes
    rate = int(values["switch_rate"]) if "switch_rate" in values else fabric.line_rate_bits_per_s
    together = {**fabric.knobs, **values}
    return dataclasses.replace(fabric, knobs=together, mtu_bytes=mtu_bytes, line_rate_bits_per_s=rate)


def wanted(
    settings: Mapping[str, str], interfaces: Mapping[str, str], hosts: Iterable[Host], place: SwitchPlace | None = None
) -> list[Wanted]:
    """Return what is to be set on some hosts and their switch, each once; settings of MPI libraries are passed by.

    Raises HostError for a setting of an interface where none is used, and of a switch where none is the lab's.
    Hosts of a lab that are namespaces share this machine: what a machine has once is set here.
    """
    found: dict[tuple[str, str], Wanted] = {}
    for name, value in on_hosts(settings).items():
        if name in SWITCH_SETTINGS:
            if place is None:
                raise HostError(f"{name} is set of the lab's switch, and launches here cross none")
            change = switch.change(SWITCH_SETTINGS[name], place.fabric, place.socket, value)
            found[place.host.name, f"{name} {place.fabric}"] = Wanted(place.host, name, value, change)
            continue
        knob = knobs()[name]
        for host in hosts:
            where = HERE if knob.scope == "machine" and host.kind == "namespace" else host
            interface = interfaces.get(host.name, "") if knob.scope == "interface" else ""
            if knob.scope == "interface" and not interface:
                raise HostError(f"{name} is set of an interface, and launches here use none", where=f"host {host.name}")
            one = Wanted(where, name, value, knob.change(interface, value), interface if knob.touches else "")
            found.setdefault((where.name, f"{name} {interface}"), one)
    return list(found.values())


class Standing:
    """What is set at the moment; of one run, whose launches may be measured by several threads."""

    def __init__(self, site: Site) -> None:
        """Nothing is set yet."""
        self._site = site
        self._lock = threading.Lock()
        self._stack = contextlib.ExitStack()
        self._key: tuple[Mapping[str, str], tuple[str, ...]] | None = None
        self._libraries = ReadBack(site)

    def hold(self, entry: Entry) -> None:
        """Set what the fabric and the library of an entry want on its hosts, and put back what another one wanted.

        Raises HostError or ToolMissing where something cannot be set, or cannot be put back, and where the library
        does not read its own settings as they are.
        """
        self._libraries.check(entry)
        fabric = self._site.fabrics[entry.fabric] if entry.fabric else None
        names = tuple(dict.fromkeys(entry.hosts))
        settings = dict(fabric.knobs) if fabric is not None else {}
        settings |= self._site.mpi[entry.mpi].knobs if entry.mpi else {}
        settings = on_hosts(settings)
        key = (settings, (entry.fabric or "", *names)) if settings else None
        with self._lock:
            if key == self._key:
                return
            self._end()
            if key is not None:
                interfaces = fabric.interfaces if fabric is not None else {}
                is_of_switch = SWITCH_SETTINGS.keys() & settings.keys()
                place = self._site.switch_of(fabric) if fabric is not None and is_of_switch else None
                self._set(wanted(settings, interfaces, [self._site.hosts[name] for name in names], place))
                self._key = key

    def refusal(self, entry: Entry, outcomes: Iterable[Outcome]) -> str:
        """Return why a launch's library refused one of its settings, where what it printed names it; else nothing."""
        texts = [one.stderr.decode("utf-8", "replace") for one in outcomes]
        return self._libraries.refusal(entry, texts)

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
            stack.enter_context(changes.changed(one.host, one.change, is_to_last=True))
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
    for one in (one for one in every if one.touched):
        path = f"/sys/class/net/{one.touched}/operstate"
        until_s = time.monotonic() + LINK_TIMEOUT_S
        while access.read(one.host, access.Wanted(globs=(path,))).files.get(path, "").strip() == "down":
            if time.monotonic() > until_s:
                what = f"{one.touched} is not up again {LINK_TIMEOUT_S:.0f} s after {one.name} was set"
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
            is_of_interface = name in knobs() and knobs()[name].scope == "interface"
            for fabric in over if over and is_of_interface else [inside]:
                purpose = f"launches of {stack.name}{f' over {fabric.name}' if fabric.name else ''}"
                yield described_one(fabric, name, value, purpose)


def described_one(fabric: Fabric, name: str, values: str, purpose: str) -> str:
    """Return what would be set where, what for, and that it is put back, or is of launches alone."""
    if name in MPI_SETTINGS:
        setting = MPI_SETTINGS[name]
        told = "" if setting.is_read_back else "; nothing tells what the library makes of it"
        variables = " and ".join(setting.variables)
        return f"sets {name} to {values} by {variables} in {purpose}, as far as they are of {setting.of}{told}"
    if name in SWITCH_SETTINGS:
        unit = SWITCH_SETTINGS[name].unit if values.rpartition(" ")[2].isdecimal() else ""
        return f"sets {name} to {values}{unit} on the lab's switch for {purpose}, and puts it back"
    knob = knobs()[name]
    hosts = ", ".join(fabric.interfaces)
    hosts = f"the machines of {hosts}, for all that runs there," if knob.scope == "machine" else hosts
    where = ", ".join(sorted(set(fabric.interfaces.values()))) if knob.scope == "interface" else ""
    touches = f" ({knob.touches})" if knob.touches else ""
    return (
        f"sets {name}{f' of {where}' if where else ''} to {values} on {hosts} for {purpose}, and puts it back{touches}"
    )
