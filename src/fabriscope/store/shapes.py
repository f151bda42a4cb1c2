"""What the parts of a manifest and of a journal's lines must look like, whoever wrote them.

A shape is a type: a dataclass for an object whose fields are known (others are passed over), `Mapping` for one whose
names are data. Readers may add fields, so a field with a default may be missing.
"""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from fabriscope.model.case import Case, Entry
from fabriscope.model.fabric import Fabric
from fabriscope.model.mpi import MpiStack

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Fact:
    """One fact of a host."""

    name: str
    value: Scalar = None
    unknown_because: str | None = None


@dataclass(frozen=True)
class HostFacts:
    """What is known of one host."""

    facts: list[Fact] = field(default_factory=list)


@dataclass(frozen=True)
class ScheduledLaunch:
    """One launch that is planned."""

    launch_id: int
    block: int
    entry_id: str
    case_ids: list[str]
    seed: int
    budget_ns: int


@dataclass(frozen=True)
class Lab:
    """The emulated hosts and switches."""

    fabrics: Mapping[str, Mapping[str, Scalar]] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Of the plan's section, what reports read."""

    description: str | None = None
    margin: float | None = None
    until: str | int | None = None
    compare: list[str] | None = None


@dataclass(frozen=True)
class Manifest:
    """What a run is."""

    version: int
    run_id: str | None = None
    created_unix_ns: int | None = None
    fabriscope_version: str = ""
    name: str = "run"
    seed: int | None = None
    plan: Plan = field(default_factory=Plan)
    paper: Mapping[str, Any] | None = None
    cases: Mapping[str, Case] = field(default_factory=dict)
    entries: Mapping[str, Entry] = field(default_factory=dict)
    fabrics: Mapping[str, Fabric] = field(default_factory=dict)
    mpi: Mapping[str, MpiStack] = field(default_factory=dict)
    schedule: list[ScheduledLaunch] = field(default_factory=list)
    hosts: Mapping[str, HostFacts] = field(default_factory=dict)
    lab: Lab | None = None
    versions: Mapping[str, Any] = field(default_factory=dict)
    sealed: bool = False


@dataclass(frozen=True)
class Result:
    """What came of one case."""

    status: str
    reason: str | None = None


@dataclass(frozen=True)
class Said:
    """One process of a launch."""

    host: str
    argv: list[str]
    exit_status: int | None
    elapsed_ns: int


@dataclass(frozen=True)
class FileDigests:
    """What a file of a launch is known by again."""

    sha256: str
    marks: str


@dataclass(frozen=True)
class Seal:
    """The digests of a line's files, and its place in the chain."""

    files: Mapping[str, FileDigests]
    marks: str
    chain: str


@dataclass(frozen=True)
class SealFile:
    """seal.json."""

    files: Mapping[str, FileDigests]
    launch_count: int
    chain: str
    ended: bool
    seal: str
    format: str = ""
    version: int = 1


@dataclass(frozen=True)
class Details:
    """Of what the instrument said of itself, what a resumed run reads."""

    hung_case_ids: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Record:
    """A line of the journal for one launch."""

    launch_id: int
    block: int
    entry_id: str | None = None
    attempt: int = 1
    status: str = "ok"
    reason: str | None = None
    results: Mapping[str, Result] = field(default_factory=dict)
    commands: list[Said] = field(default_factory=list)
    started_unix_ns: int = 0
    elapsed_ns: int = 0
    samples: str | None = None
    counters: str | None = None
    idle_counters: str | None = None
    details: Details = field(default_factory=Details)
    mishaps: list[str] = field(default_factory=list)
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    fabric_counters: Mapping[str, Any] | None = None
    seal: Seal | None = None


@dataclass(frozen=True)
class Addition:
    """A line of the journal that adds launches."""

    added: int
    near: list[Mapping[str, Any]]
    cases: Mapping[str, Case]
    schedule: list[ScheduledLaunch]
    seal: Seal | None = None


_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}


def check(value: Any, shape: Any, place: str = "") -> None:
    """Raise ValueError with the place (`entries.gige.tcp.hosts[0]`) of the first thing that has another shape."""
    wrong = _wrong(value, shape, place)
    if wrong is not None:
        raise ValueError(wrong)


def _wrong(value: Any, shape: Any, place: str) -> str | None:
    """Return what is wrong with a value in words; None where it has the shape."""
    origin = get_origin(shape)
    if shape is Any:
        return None
    if origin in (Union, types.UnionType):
        reasons = [_wrong(value, one, place) for one in get_args(shape)]
        if None in reasons:
            return None
        inside = [one for one in get_args(shape) if not isinstance(one, type) or dataclasses.is_dataclass(one)]
        return reasons[get_args(shape).index(inside[0])] if inside else _mismatch(value, shape, place)
    if dataclasses.is_dataclass(shape):
        return _wrong_object(value, shape, place)
    if origin in (Mapping, dict) or shape is Mapping:
        return _wrong_mapping(value, get_args(shape)[1], place)
    if origin in (list, tuple, Sequence):
        return _wrong_list(value, get_args(shape), place)
    if shape is float:
        fits = isinstance(value, int | float) and not isinstance(value, bool)
    elif shape is int:
        fits = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63
    else:
        fits = isinstance(value, shape)
    return None if fits else _mismatch(value, shape, place)


def _wrong_object(value: Any, shape: Any, place: str) -> str | None:
    if not isinstance(value, dict):
        return f"{place or 'it'} is not an object"
    for name, (kind, is_required) in fields_of(shape).items():
        where = f"{place}.{name}" if place else name
        if name in value:
            wrong = _wrong(value[name], kind, where)
            if wrong is not None:
                return wrong
        elif is_required:
            return f"{where} is missing"
    return None


def _wrong_mapping(value: Any, kind: Any, place: str) -> str | None:
    if not isinstance(value, dict):
        return f"{place} is not an object"
    reasons = (_wrong(item, kind, f"{place}.{name}") for name, item in value.items())
    return next((reason for reason in reasons if reason is not None), None)


def _wrong_list(value: Any, kinds: tuple[Any, ...], place: str) -> str | None:
    if not isinstance(value, list):
        return f"{place} is not a list"
    if len(kinds) > 1 and kinds[1] is not Ellipsis:
        if len(value) != len(kinds):
            return f"{place} does not have {len(kinds)} items"
        pairs = zip(value, kinds, strict=True)
    else:
        pairs = zip(value, [kinds[0]] * len(value), strict=True)
    reasons = (_wrong(item, kind, f"{place}[{index}]") for index, (item, kind) in enumerate(pairs))
    return next((reason for reason in reasons if reason is not None), None)


def _mismatch(value: Any, shape: Any, place: str) -> str:
    kinds = get_args(shape) if get_origin(shape) in (Union, types.UnionType) else (shape,)
    text = repr(value)
    return f"{place} is {text[:40]}, and must be {' or '.join(_NAMES.get(kind, str(kind)) for kind in kinds)}"


@cache
def fields_of(shape: Any) -> dict[str, tuple[Any, bool]]:
    """Return a dataclass's fields: the type, and whether it has no default."""
    hints = get_type_hints(shape)
    absent = dataclasses.MISSING
    return {
        one.name: (hints[one.name], one.default is absent and one.default_factory is absent)
        for one in dataclasses.fields(shape)
    }
