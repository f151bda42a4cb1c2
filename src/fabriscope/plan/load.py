"""From a plan's text to a checked plan: every mistake becomes one sentence with its line and its fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fabriscope.model.benchmarks import choices_of
from fabriscope.model.errors import HostError, PlanError, shown
from fabriscope.model.host_lists import unfolded
from fabriscope.model.layers import layer_of
from fabriscope.plan import guests, paper_names, ranks, schema, values
from fabriscope.plan.benchmarks import contradictions as benchmark_contradictions
from fabriscope.plan.paper import PaperSection
from fabriscope.plan.yaml_places import Place, PlacedYaml, read

MAX_HOSTS = 4096
MAX_PROBLEMS = 20
"""Mistakes of a plan that are named at once."""
ALLOCATION = ("@allocation", "slurm", "pbs", "lsf", "flux")
"""What stands for the hosts of the batch job that the plan runs in."""


@dataclass(frozen=True)
class Vocabulary:
    """The names that this installation knows, for the checks; from the registries."""

    benchmarks: frozenset[str]
    instruments: frozenset[str]
    layers: frozenset[str]
    presets: frozenset[str]
    allocation: tuple[str, ...] | None = None
    """The hosts of the batch job that we are in, or are about to ask for; None outside of any."""
    instrument_layers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """The layers that an instrument measures; one that is not named here measures every layer."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Layers that this installation's engine was built without, and what to do."""
    missing_here: Mapping[str, str] = field(default_factory=dict)
    """Layers whose library is not on this machine, and what to do; other hosts may have it, those of a lab do not."""


@dataclass(frozen=True)
class Plan:
    """A checked plan."""

    section: schema.PlanSection
    hosts: tuple[str, ...]
    text: str
    file: str
    paper: Mapping[str, Any] | None = None
    """The paper that it re-runs, resolved (plan/paper.py)."""
    companions: Mapping[str, str] = field(default_factory=dict)
    """Name to text of the files beside it that it needs."""
    instrument_layers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """As of the vocabulary."""
    document: PlacedYaml | None = field(default=None, compare=False, repr=False)
    """Where everything stands in the file."""

    def where(self, *place: str | int) -> str:
        """Return `file:line` of a key."""
        return self.document.where(place) if self.document is not None else self.file

    @property
    def counts_cores(self) -> bool:
        """Return whether the number of a host's cores decides what is launched."""
        words = {*self.section.pairs, *self.section.ranks_per_host, *self.section.ranks}
        return bool(words & {"half", "all"})

    @property
    def guests(self) -> tuple[str, ...]:
        """Return the hosts that have a kernel of their own, in the order of the hosts."""
        named = guests.named(self.section.guests, self.hosts)
        return tuple(host for host in self.hosts if host in named)

    @property
    def cpu_shares(self) -> dict[str, float]:
        """Return which share of a processor guests have that do not have a whole one."""
        named = guests.named(self.section.guests, self.hosts)
        return {host: share for host in self.guests if (share := named[host].cpu_share) is not None and share < 1}

    @property
    def wants_allocation(self) -> bool:
        """Return whether the hosts are those of the batch job that the plan runs in."""
        return self.section.hosts in ALLOCATION

    @property
    def uses_lab(self) -> bool:
        """Return whether hosts and fabrics are to be built out of this machine."""
        return any(fabric.lab is not None for fabric in self.section.fabrics.values())


def load(path: Path, vocabulary: Vocabulary) -> Plan:
    """Return the checked plan of a file; raises PlanError whose sentence lists every mistake, a line each."""
    document, text = read(path)
    return check(document, text, vocabulary)


def check(document: PlacedYaml, text: str, vocabulary: Vocabulary) -> Plan:
    """Return the plan of a document; raises PlanError."""
    section = _validated(schema.PlanSection, document)
    if section.hosts in ALLOCATION:
        hosts = vocabulary.allocation or _hosts_to_come(section, document)
    else:
        hosts = _hosts(section.hosts, document)
    problems = [
        PlanError(what, where=document.where(place), fix=fix).sentence()
        for place, what, fix in _contradictions(section, hosts, vocabulary)
    ]
    if problems:
        raise _listing(problems)
    paper, companions = _paper(section, document)
    return Plan(section, hosts, text, document.file, paper, companions, vocabulary.instrument_layers, document)


def _listing(problems: list[str]) -> PlanError:
    """Return one error for several mistakes, a line each."""
    lines = list(dict.fromkeys(problems))
    more = [f"and {len(lines) - MAX_PROBLEMS} more mistakes"] if len(lines) > MAX_PROBLEMS else []
    return PlanError("\n".join(lines[:MAX_PROBLEMS] + more))


Model = TypeVar("Model", bound=BaseModel)


def _validated(model: type[Model], document: PlacedYaml) -> Model:
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise _listing([_problem(item, document, model) for item in error.errors(include_url=False)]) from error


def _paper(section: schema.PlanSection, document: PlacedYaml) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Return the plan's paper, resolved, and the text of its file."""
    if section.paper is None:
        return None, {}
    paper_document, text = read(Path(document.file).parent / section.paper.file)
    paper = _validated(PaperSection, paper_document)
    wrong = [PlanError(what, where=paper_document.file).sentence() for what in paper_names.problems(paper)]
    if wrong:
        raise _listing(wrong)
    try:
        resolved = paper_names.resolve(paper, section.paper.here)
    except ValueError as error:
        raise PlanError(str(error), where=document.where(("paper",))) from error
    return {**resolved, "here": section.paper.setup}, {section.paper.file: text}


def _hosts(text: str, document: PlacedYaml) -> tuple[str, ...]:
    try:
        hosts = unfolded(text)
    except HostError as error:
        raise PlanError(error.what, where=document.where(("hosts",)), fix=error.fix) from error
    if len(hosts) > MAX_HOSTS:
        raise PlanError(
            f"{len(hosts)} hosts are more than {MAX_HOSTS}", where=document.where(("hosts",)), fix="name fewer hosts"
        )
    return hosts


def hosts_to_come(count: int) -> tuple[str, ...]:
    """Return names for the hosts of a batch job that has yet to begin."""
    return tuple(f"node-{number}-of-the-job" for number in range(1, count + 1))


def _hosts_to_come(section: schema.PlanSection, document: PlacedYaml) -> tuple[str, ...]:
    """Return the hosts of the job that the plan's section `submit` asks for; raises PlanError."""
    if section.submit.nodes is None:
        raise PlanError(
            f"{section.hosts!r} means the hosts of a batch job, and we are in none",
            where=document.where(("hosts",)),
            fix="`fabriscope submit PLAN --nodes 2` makes one",
        )
    return hosts_to_come(section.submit.nodes)


def _contradictions(
    plan: schema.PlanSection, hosts: tuple[str, ...], words: Vocabulary
) -> Iterator[tuple[Place, str, str]]:
    yield from _unknown_names(plan, words)
    yield from _fabric_contradictions(plan, hosts)
    yield from guests.contradictions(plan, hosts)
    if "inter" in plan.placements and len(hosts) < 2:
        yield ("placements",), "inter needs two hosts and the plan has one", "add a host, or write placements: [intra]"
    if "inter" in plan.placements and not plan.fabrics:
        yield (
            ("placements",),
            "inter needs a fabric and the plan has none",
            "add for example `fabrics: {gige: {lab: gige}}`",
        )
    if "mpi" in plan.layers and not plan.mpi:
        yield (
            ("layers",),
            "the layer mpi needs an MPI library",
            "add for example `mpi: [mpich]`; see `fabriscope mpi list`",
        )
    if plan.mpi and "mpi" not in plan.layers:
        yield ("mpi",), "MPI libraries are named, but the layer mpi is not measured", "add mpi to layers"
    yield from _misplaced_layers(plan)
    names = [stack.name for stack in plan.mpi]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield ("mpi", index), f"the MPI library {name!r} is named twice", "remove one, or give them different names"
    yield from _unknown_fabrics(plan)
    yield from ranks.contradictions(plan, hosts)
    yield from benchmark_contradictions(plan)


def _misplaced_layers(plan: schema.PlanSection) -> Iterator[tuple[Place, str, str]]:
    for layer in plan.layers:
        possible = layer_of(layer).placements
        if set(possible) & set(plan.placements):
            continue
        if possible == ("intra",):
            yield ("layers",), "shared memory works only inside one host", "add intra to placements"
        else:
            yield ("layers",), f"{layer} works only between hosts", "add inter to placements"


def _unknown_names(plan: schema.PlanSection, words: Vocabulary) -> Iterator[tuple[Place, str, str]]:
    for name in plan.benchmarks:
        if name not in words.benchmarks:
            yield ("benchmarks", name), f"there is no benchmark {shown(name)}", _nearest(name, words.benchmarks)
    yield from _unknown_layers(plan, words)
    for index, name in enumerate(plan.instruments):
        if name not in words.instruments:
            yield ("instruments", index), f"there is no instrument {shown(name)}", _nearest(name, words.instruments)
        elif not (known := words.instrument_layers.get(name, frozenset(plan.layers))) & set(plan.layers):
            yield (
                ("instruments", index),
                f"{name} measures {' and '.join(sorted(known))}, no layer of this plan",
                "add it to layers, or leave the instrument out",
            )
    for name, fabric in plan.fabrics.items():
        if fabric.lab is not None and fabric.lab.preset not in words.presets:
            yield (
                ("fabrics", name, "lab"),
                f"there is no lab preset {shown(fabric.lab.preset)}",
                _nearest(fabric.lab.preset, words.presets),
            )


def _unknown_layers(plan: schema.PlanSection, words: Vocabulary) -> Iterator[tuple[Place, str, str]]:
    in_lab = any(fabric.lab is not None for fabric in plan.fabrics.values())
    for index, name in enumerate(plan.layers):
        place: Place = ("layers", index)
        if name in words.left_out:
            what = f"the engine of this installation has no layer {name}: {words.left_out[name]}"
            yield place, what, "install fabriscope again, or leave the layer out"
        elif name not in words.layers:
            yield place, f"there is no layer {shown(name)}", _nearest(name, words.layers)
        elif in_lab and name in words.missing_here:
            yield place, f"the layer {name} does not work here: {words.missing_here[name]}", "install that package"


def _unknown_fabrics(plan: schema.PlanSection) -> Iterator[tuple[Place, str, str]]:
    known = frozenset(plan.fabrics)
    places: list[tuple[Place, str]] = [
        (("intra_fabrics", index), name) for index, name in enumerate(plan.intra_fabrics)
    ]
    for number, stack in enumerate(plan.mpi):
        places += [(("mpi", number, "fabrics", index), name) for index, name in enumerate(stack.fabrics or ())]
    for place, name in places:
        if name not in known:
            yield place, f"there is no fabric {shown(name)} in this plan", _nearest(name, known)
    if plan.intra_fabrics and "intra" not in plan.placements:
        yield ("intra_fabrics",), "intra_fabrics is of use inside a host only", "add intra to placements"


def _fabric_contradictions(plan: schema.PlanSection, hosts: tuple[str, ...]) -> Iterator[tuple[Place, str, str]]:
    in_lab = [name for name, fabric in plan.fabrics.items() if fabric.lab is not None]
    for name, fabric in plan.fabrics.items():
        place: Place = ("fabrics", name)
        if fabric.lab is not None and fabric.interface is not None:
            yield (
                place,
                f"fabric {name!r} has both lab and interface",
                "keep lab for an emulated switch, interface for a real one",
            )
        elif fabric.lab is None and in_lab:
            yield (
                place,
                f"fabric {name!r} is real and {in_lab[0]!r} is of the lab",
                "use either the lab or real hosts in one plan",
            )
        elif fabric.lab is None and fabric.interface is None:
            yield place, f"fabric {name!r} says neither lab nor interface", "add `lab: gige`, or `interface: eth0`"
        if isinstance(fabric.interface, dict):
            missing = [host for host in hosts if host not in fabric.interface]
            if missing:
                yield (*place, "interface"), f"fabric {name!r} has no interface for {', '.join(missing[:4])}", "add it"
        if fabric.lab is not None and fabric.lab.mtu is not None and not 576 <= fabric.lab.mtu <= 9000:
            yield (*place, "lab"), f"an MTU of {fabric.lab.mtu} bytes is out of range", "choose 576 to 9000"


def _nearest(name: str, known: frozenset[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    listing = ", ".join(sorted(known))
    return f"did you mean {near[0]!r}? known: {listing}" if near else f"known: {listing}"


def _problem(item: Mapping[str, Any], document: PlacedYaml, model: type[BaseModel]) -> str:
    place: Place = tuple(part for part in item["loc"])
    what, fix = _words(item, place, _known_keys(place) if model is schema.PlanSection else frozenset())
    return PlanError(what, where=document.where(place), fix=fix).sentence()


def _words(item: Mapping[str, Any], place: Place, known: frozenset[str]) -> tuple[str, str | None]:
    key = ".".join(str(part) for part in place if part != "[key]")
    kind, context = item["type"], item.get("ctx", {})
    if kind == "extra_forbidden":
        return f"there is no key {shown(str(place[-1]))} here", _nearest(str(place[-1]), known) if known else None
    if kind == "missing":
        return f"the key {str(place[-1])!r} is missing", "add it; see docs/plan.md"
    if isinstance(context.get("error"), values.NotPossible):
        choices = choices_of(benchmark=str(place[1]), parameter=str(place[2]))
        return f"{key}: {shown(context['error'].value)} is not possible", f"choose {', '.join(choices)}"
    if kind == "value_error":
        return f"{key}: {context['error']}", None
    if kind == "literal_error":
        return f"{key}: {shown(item['input'])} is not possible", f"choose {context['expected']}"
    if kind in ("dict_type", "model_type"):
        return (
            f"{key}: a mapping is expected, not {shown(item['input'])}",
            "write `key: value` lines, indented below it",
        )
    if kind == "string_pattern_mismatch":
        if key == "paper.file":
            return (
                f"{key}: {shown(item['input'])} is no name of a YAML file beside the plan",
                "name it, for example, x.yaml",
            )
        return (
            f"{key}: {shown(item['input'])} has characters that a name cannot have, or is too long",
            "use letters, digits, '.', '_' and '-'",
        )
    message = str(item["msg"])
    return f"{key}: {message[0].lower()}{message[1:]}, not {shown(item['input'])}", None


def _known_keys(place: Place) -> frozenset[str]:
    """Return the keys that may stand where the last part of `place` stands."""
    parent = place[-2] if len(place) > 1 else None
    nested: dict[Any, type[BaseModel]] = {
        "ssh": schema.SshSection,
        "submit": schema.SubmitSection,
        "socket": schema.SocketSection,
        "verbs": schema.VerbsSection,
        "lab": schema.LabFabricSection,
    }
    named: dict[Any, type[BaseModel]] = {
        "benchmarks": schema.BenchmarkSection,
        "guests": schema.GuestSection,
        "fabrics": schema.FabricSection,
        "mpi": schema.MpiSection,
    }
    section = schema.PlanSection if parent is None else nested.get(parent) or named.get(place[0], schema.PlanSection)
    return frozenset(section.model_fields)
