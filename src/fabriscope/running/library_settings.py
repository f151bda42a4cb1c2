"""Settings of MPI libraries: whether a plan's count in any launch, and whether the library reads them as they were set.

They are variables of launches (launch/mpi_jobs.py sets them). Open MPI, MPICH and UCX come with programs that tell what
they make of their environment: a value that reads otherwise, and a name that this version does not know, fails the
launch before it starts. Intel MPI, libfabric and MVAPICH2 tell nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from fabriscope.hosts import access
from fabriscope.launch import mpi_jobs, mpi_settings
from fabriscope.launch.site import Site
from fabriscope.model.case import Entry
from fabriscope.model.errors import HostError, LaunchError, PlanError, ToolMissing, printable
from fabriscope.model.host import Host
from fabriscope.model.mpi import MpiStack
from fabriscope.model.mpi_settings import MPI_SETTINGS, MpiSetting
from fabriscope.model.units import parse_size_bytes
from fabriscope.plan import Plan

_PROGRAMS: Mapping[str, tuple[tuple[str, ...], str]] = {
    "OMPI_MCA_": (
        ("ompi_info", "--parsable", "--level", "9", "--param", "btl", "all"),
        r"^mca:[^:]*:[^:]*:param:{name}:value:(.*)$",
    ),
    "MPIR_CVAR_": (("mpivars",), r"^\s*MPIR_CVAR_{name}\s*=\s*(\S+)"),
    "UCX_": (("ucx_info", "-c"), r"^UCX_{name}=(.*)$"),
}
"""Beginning of a variable to the program that tells its value, and the pattern of that; `{name}` is the rest of it."""


_RULE = re.compile(r"^-{20,}\s*$", re.MULTILINE)


def installed(plan: Plan, index: int) -> MpiStack:
    """Return the plan's MPI library with that number; raises ToolMissing, with its line, where it is not here."""
    from fabriscope.hosts import mpi

    wanted = plan.section.mpi[index]
    try:
        return mpi.find(wanted.library or wanted.name, wanted.path)
    except ToolMissing as error:
        what = f"{error.where}: {error.what}" if error.where else error.what
        raise ToolMissing(what, where=plan.where("mpi", index), fix=error.fix) from error


@dataclass(frozen=True)
class Told:
    """What a library makes of one setting."""

    value: str | None = None
    """As plans have it; None where nothing tells it."""
    problem: str = ""
    """Why the library does not have it at what was set; empty where it does, or nothing tells it."""


def told(host: Host, stack: MpiStack, setting: MpiSetting, value: str | None) -> Told:
    """Return what a library says of a setting on a host once it is set to a value, or not at all (None)."""
    found: list[str] = []
    for prefix, (words, pattern) in _PROGRAMS.items():
        names = [one for one in setting.variables if one.startswith(prefix)]
        if not names:
            continue
        text = _said(host, stack, words, mpi_settings.variables({setting.name: value}) if value is not None else {})
        if text is None:
            return Told()
        for name in names:
            match = re.search(pattern.format(name=re.escape(name.removeprefix(prefix))), text, re.MULTILINE)
            found += [_as_plans_have_it(setting, match[1])] if match else []
    if not found:
        knows_none = f"{stack.name} ({stack.version}) knows no {' and no '.join(setting.variables)}"
        return Told(problem=knows_none if setting.is_read_back else "")
    others = [one for one in found if value is not None and one != value]
    problem = f"{stack.name} reads {setting.variables[0]} as {others[0]} after {value} was set" if others else ""
    return Told(found[0], problem)


def _said(host: Host, stack: MpiStack, words: Sequence[str], variables: Mapping[str, str]) -> str | None:
    """Return what a program of the library's prints; None where it is not there, or fails."""
    beside = Path(stack.mpirun).parent / words[0]
    env = [f"{name}={text}" for name, text in {**stack.env, **variables}.items()]
    for program in (str(beside), words[0]):
        try:
            said = access.run(host, ("env", *env, program, *words[1:]), access.READ_TIMEOUT_S)
        except (HostError, ToolMissing):
            return None
        if said.exit_status == 0:
            return said.stdout
    return None


def _as_plans_have_it(setting: MpiSetting, text: str) -> str:
    text = text.strip()
    try:
        return str(parse_size_bytes(text)) if setting.kind == "size" else text
    except ValueError:
        return text.lower() if text.lower() in setting.words else text


class ReadBack:
    """What the libraries of a run say of settings; each is asked once."""

    def __init__(self, site: Site) -> None:
        """Nothing was asked yet."""
        self._site = site
        self._problems: dict[tuple[str, str, tuple[tuple[str, str], ...]], list[str]] = {}

    def check(self, entry: Entry) -> None:
        """Raise HostError where a launch's library does not read its settings as they are set."""
        if entry.mpi is None or not (counting := self._counting(entry, self._site.mpi[entry.mpi])):
            return
        stack, host = self._site.mpi[entry.mpi], self._site.hosts[entry.hosts[0]]
        key = (host.name, stack.name, tuple(sorted(counting.items())))
        if key not in self._problems:
            every = (told(host, stack, MPI_SETTINGS[name], value) for name, value in counting.items())
            self._problems[key] = [one.problem for one in every if one.problem]
        if self._problems[key]:
            raise HostError("; ".join(self._problems[key]), where=f"host {host.name}")

    def refusal(self, entry: Entry, texts: Iterable[str]) -> str:
        """Return in one sentence what a failed launch printed of a setting of its library; empty where of none."""
        counting = self._counting(entry, self._site.mpi[entry.mpi]) if entry.mpi is not None else {}
        return next(refusals(counting, texts), "")

    def _counting(self, entry: Entry, stack: MpiStack) -> dict[str, str]:
        """Return the settings that count in a launch; none of one that cannot be, as it says itself."""
        fabric = self._site.fabrics[entry.fabric] if entry.fabric else None
        asked = mpi_settings.asked(stack.knobs, fabric.knobs if fabric is not None else {})
        try:
            return mpi_jobs.settings_of(entry.hosts, stack, self._site.hosts, fabric, asked) if asked else {}
        except LaunchError:
            return {}


def refusals(settings: Mapping[str, str], texts: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each setting that a library's words name.

    Open MPI says what is wrong between two rules, and at the end of that which parameter it is about.
    """
    paragraphs = [part for text in texts for part in _RULE.split(text)]
    for name, value in settings.items():
        for variable in MPI_SETTINGS[name].variables:
            named = re.compile(rf"\b{re.escape(variable.removeprefix('OMPI_MCA_'))}\b")
            for part in filter(named.search, paragraphs):
                lines = part.strip().splitlines()
                is_of_openmpi = variable.startswith("OMPI_MCA_")
                said = " ".join(lines) if is_of_openmpi else next(line for line in lines if named.search(line))
                sentence = re.split(r"\.\s", " ".join(printable(said).split()), maxsplit=1)[0]
                yield f"{name} {value} is refused by the library: {sentence.rstrip('.')}"


def check(plan: Plan, stacks: Mapping[str, MpiStack], transports: Mapping[str, str]) -> None:
    """Raise PlanError for a setting that counts in no launch of the plan; `transports` are those of its fabrics."""
    section = plan.section
    for index, stack in enumerate(section.mpi):
        over = [transports[name] for name in stack.fabrics or transports] if "inter" in section.placements else []
        if "intra" in section.placements and stack.fabrics is None:
            over += ["shm", *(transports[name] for name in section.intra_fabrics)]
        _refuse(plan, ("mpi", index, "settings"), stack.settings, [(stacks[stack.name], one) for one in over])
    tune = section.tune
    for name, fabric in section.fabrics.items():
        used = [stacks[one.name] for one in section.mpi if one.fabrics is None or name in one.fabrics]
        pairs = [(stack, transports[name]) for stack in used]
        _refuse(plan, ("fabrics", name, "settings"), fabric.settings, pairs)
        if tune is not None and tune.fabric in (None, name):
            _refuse(plan, ("tune", "knobs"), tune.knobs, pairs)


def _refuse(
    plan: Plan, place: tuple[str | int, ...], names: Collection[str], launches: Sequence[tuple[MpiStack, str]]
) -> None:
    asked = [name for name in names if name in MPI_SETTINGS]
    taken = set(_taken(launches)) if asked else set()
    for name in asked:
        if MPI_SETTINGS[name].of in taken:
            continue
        measured = ", ".join(dict.fromkeys(f"{stack.name} over {transport}" for stack, transport in launches))
        what = f"{name} counts in launches of {MPI_SETTINGS[name].of}, and here there are {measured or 'none'}"
        raise PlanError(what, where=plan.where(*place, name), fix="docs/settings.md says which settings count where")


def _taken(launches: Sequence[tuple[MpiStack, str]]) -> Iterator[str]:
    for stack, transport in launches:
        try:
            yield from mpi_jobs.takes(stack, transport)
        except LaunchError:
            continue  # it cannot be measured so, as its launches say
