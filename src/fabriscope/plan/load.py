"""From a plan's text to a checked plan: every mistake becomes one sentence with its line and its fix."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fabriscope.model.errors import HostError, PlanError, shown
from fabriscope.model.host_lists import one_host_meant, twice, unfolded
from fabriscope.model.layers import layer_of
from fabriscope.plan import (
    applications,
    fabrics,
    guests,
    indentation,
    job_hosts,
    mistakes,
    paper_names,
    pilots,
    ranks,
    remedies,
    schema,
    selections,
    services,
    settings,
    streams,
    suites,
    tuning,
    unknown,
    unused,
)
from fabriscope.plan.benchmarks import contradictions as benchmark_contradictions
from fabriscope.plan.job_hosts import ALLOCATION
from fabriscope.plan.mistakes import nearest
from fabriscope.plan.paper import PaperSection
from fabriscope.plan.vocabulary import Vocabulary
from fabriscope.plan.yaml_places import Place, PlacedYaml, read

MAX_HOSTS = 4096
RUN_PLAN_NAME = "plan.yaml"
"""Of the plan in a run folder, where the file of its paper lies beside it."""


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


def load(path: Path, vocabulary: Vocabulary, values: Mapping[str, Any] | None = None) -> Plan:
    """Return the checked plan of a file, `values` in place of its keys; raises PlanError, a line a mistake."""
    document, text = read(path, values)
    return check(document, text, vocabulary)


def check(document: PlacedYaml, text: str, vocabulary: Vocabulary) -> Plan:
    """Return the plan of a document; raises PlanError."""
    if beside := list(indentation.misplaced(document.data)):
        raise mistakes.listed(beside, document)
    strange = list(unknown.names(document.data, vocabulary))
    section = _validated(schema.PlanSection, document, strange)
    if section.hosts in ALLOCATION:
        hosts = vocabulary.allocation or job_hosts.supposed(section)
    else:
        hosts = _hosts(section.hosts, document)
    wrong = (one for one in _contradictions(section, hosts, vocabulary) if not _follows(one[0], strange))
    if problems := [*strange, *wrong]:
        raise mistakes.listed(problems, document)
    paper, companions = _paper(section, document)
    return Plan(section, hosts, text, document.file, paper, companions, vocabulary.instrument_layers, document)


_OF_UNKNOWN: Mapping[str | int, frozenset[str | int]] = {
    "benchmarks": frozenset(("ranks", "ranks_per_host", "pairs", "arrangement")),
    "layers": frozenset(("mpi", "layers", "benchmarks", "instruments")),
}
"""Keys with unknown names to the keys that may be wrong for no other reason."""


def _follows(place: Place, strange: Iterable[mistakes.Mistake]) -> bool:
    """Return whether what is wrong at a place may be so because of names that nobody knows."""
    return bool(place) and any(place[0] in _OF_UNKNOWN.get(wrong[0], ()) for wrong, _, _ in strange)


Model = TypeVar("Model", bound=BaseModel)


def _validated(model: type[Model], document: PlacedYaml, strange: Iterable[mistakes.Mistake] = ()) -> Model:
    """Return what a document says; raises PlanError, which also tells what else is strange in it."""
    try:
        return model.model_validate(document.data)
    except ValidationError as error:
        raise mistakes.listed([*mistakes.of_schema(error, model), *strange], document) from error


def _paper(section: schema.PlanSection, document: PlacedYaml) -> tuple[dict[str, Any] | None, dict[str, str]]:
    """Return the plan's paper, resolved, and the text of its file."""
    if section.paper is None:
        return None, {}
    if section.paper.file in (RUN_PLAN_NAME, Path(document.file).name):
        what = f"a paper cannot be called {section.paper.file}, which is the name of the plan, here or in a run folder"
        raise PlanError(what, where=document.where(("paper", "file")), fix="write it into another file")
    path = Path(document.file).parent / section.paper.file
    if not path.exists():
        what = f"paper.file: there is no {section.paper.file} beside the plan"
        raise PlanError(what, where=document.where(("paper", "file")), fix="put it there, or name another one")
    paper_document, text = read(path)
    paper = _validated(PaperSection, paper_document)
    if wrong := list(paper_names.problems(paper, paper_document.data)):
        raise mistakes.listed(wrong, paper_document)
    strangers = [
        (("paper", "here", name), f"the paper has no name {shown(word)}", nearest(word, paper.names))
        for name in section.paper.here
        for word in name.split()
        if word not in paper.names
    ]
    if strangers:
        raise mistakes.listed(strangers, document)
    try:
        uses = {name: one.buffers[0] for name, one in section.benchmarks.items() if one.buffers}
        resolved = paper_names.resolve(paper, section.paper.here, uses)
    except ValueError as error:
        raise PlanError(str(error), where=document.where(("paper",))) from error
    wrong_here = [
        (("paper", "here", *place), what, fix) for place, what, fix in selections.contradictions(section.paper.here)
    ]
    if wrong_here:
        raise mistakes.listed(wrong_here, document)
    return {**resolved, "here": section.paper.setup}, {section.paper.file: text}


def _hosts(text: str, document: PlacedYaml) -> tuple[str, ...]:
    try:
        hosts = unfolded(text)
    except HostError as error:
        what, fix = error.what, error.fix
        if remedies.is_variable(text):
            what, fix = f"hosts: variables such as {shown(text)} are not replaced", "write the value itself"
        raise PlanError(what, where=document.where(("hosts",)), fix=fix) from error
    if len(hosts) > MAX_HOSTS:
        raise PlanError(
            f"{len(hosts)} hosts are more than {MAX_HOSTS}", where=document.where(("hosts",)), fix="name fewer hosts"
        )
    return hosts


def _contradictions(
    plan: schema.PlanSection, hosts: tuple[str, ...], words: Vocabulary
) -> Iterator[tuple[Place, str, str]]:
    yield from _unfit_names(plan, words)
    yield from fabrics.contradictions(plan, hosts, words.faults)
    yield from settings.contradictions(plan, words.knobs)
    yield from (*tuning.contradictions(plan, words.knobs), *pilots.contradictions(plan))
    yield from guests.contradictions(plan, hosts)
    if "inter" in plan.placements and len(hosts) < plan.services.least_hosts(plan.layers):
        yield _too_few_hosts(plan)
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
    yield from (*_unknown_fabrics(plan), *ranks.contradictions(plan, hosts))
    yield from streams.contradictions(plan, hosts)
    yield from benchmark_contradictions(plan)
    yield from (*services.contradictions(plan, hosts), *unused.contradictions(plan))
    yield from (*applications.contradictions(plan), *suites.contradictions(plan))


def _too_few_hosts(plan: schema.PlanSection) -> tuple[Place, str, str]:
    place: Place = ("placements",) if "placements" in plan.model_fields_set else ("hosts",)
    again = f" ({shown(plan.hosts)} names it twice)" if twice([plan.hosts]) else ""
    fix = one_host_meant(plan.hosts) or "add a host"
    if plan.hosts.lower() in ALLOCATION and plan.hosts not in ALLOCATION:
        what = f"{shown(plan.hosts)} is the name of one host here"
        return ("hosts",), what, f"write {plan.hosts.lower()} for the hosts of a batch job"
    if plan.hosts in ALLOCATION and plan.submit.nodes == 1:
        place, fix = ("submit", "nodes"), "write `nodes: 2`"
    fix = f"{fix}, or write `placements: [intra]` for ranks on one host"
    return place, f"inter needs two hosts and the plan has one{again}", fix


def _misplaced_layers(plan: schema.PlanSection) -> Iterator[tuple[Place, str, str]]:
    for layer in plan.layers:
        possible = layer_of(layer).placements
        if set(possible) & set(plan.placements):
            continue
        if possible == ("intra",):
            yield ("layers",), "shared memory works only inside one host", "add intra to placements"
        else:
            yield ("layers",), f"{layer} works only between hosts", "add inter to placements"


def _unfit_names(plan: schema.PlanSection, words: Vocabulary) -> Iterator[tuple[Place, str, str]]:
    """Yield names that are known, of what cannot be measured here or by this plan."""
    for index, name in enumerate(plan.instruments):
        known = words.instrument_layers.get(name, frozenset(plan.layers))
        if name in words.instruments and not known & set(plan.layers):
            yield (
                ("instruments", index),
                f"{name} measures {' and '.join(sorted(known))}, no layer of this plan",
                "add it to layers, or leave the instrument out",
            )
    in_lab = any(fabric.lab is not None for fabric in plan.fabrics.values())
    for index, name in enumerate(plan.layers):
        place: Place = ("layers", index)
        if name in words.left_out:
            what = f"the engine of this installation has no layer {name}: {words.left_out[name]}"
            yield place, what, "install fabriscope again, or leave the layer out"
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
            yield place, f"there is no fabric {shown(name)} in this plan", nearest(name, known)
    if plan.intra_fabrics and "intra" not in plan.placements:
        yield ("intra_fabrics",), "intra_fabrics is of use inside a host only", "add intra to placements"
