"""What of a run is no longer what it was: the parts of a manifest that define its cases, compared by value."""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Union, get_args, get_origin

from fabriscope.model.fabric import Fabric
from fabriscope.model.foreign import Json, JsonObject
from fabriscope.model.lab import LabSpec
from fabriscope.model.mpi import MpiStack
from fabriscope.store import shapes
from fabriscope.store.files import plain

NOT_DEFINING = frozenset({"chosen_because", "python", "engine", "fabriscope"})
"""Words for people, and versions and places of what measures nothing by itself."""


@dataclass(frozen=True)
class Definition:
    """What two parts of one run must agree in; a part that an older manifest lacks is not compared."""

    name: str = ""
    seed: int | None = None
    plan: Mapping[str, object] = field(default_factory=dict)
    paper: Mapping[str, object] | None = None
    fabrics: Mapping[str, Fabric] = field(default_factory=dict)
    lab: LabSpec | None = None
    mpi: Mapping[str, MpiStack] = field(default_factory=dict)
    versions: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Difference:
    """One value that is not what it was."""

    place: str
    was: str
    now: str

    def sentence(self) -> str:
        """Return `fabrics.gige.lab.preset was "gige" and is "ethernet-100"`."""
        return f"{self.place} was {self.was} and is {self.now}"


class _Absent:
    """Stands for what is not there."""


Value = Json | type[_Absent]


def differences(kept: Mapping[str, object], now: Mapping[str, object]) -> list[Difference]:
    """Return what differs in those parts of a manifest that both have."""
    found: list[Difference] = []
    for name, (shape, _) in shapes.fields_of(Definition).items():
        if name in kept and name in now:
            found += _compared(plain(kept[name]), plain(now[name]), shape, name)
    return found


def plan_differences(
    kept: Mapping[str, object], now: Mapping[str, object], said: Mapping[str, object]
) -> list[Difference]:
    """Return what differs between the section of a plan in the manifest and that of its text.

    A field that the manifest lacks came later than it: it counts only where the text has it (`said`), since its
    default is what was done before there was one.
    """
    return list(_of_plan(plain(kept), plain(now), plain(said), "plan"))


def _of_plan(kept: Value, now: Value, said: Value, place: str) -> Iterator[Difference]:
    if isinstance(kept, dict) and isinstance(now, dict):
        for name in [*kept, *(name for name in now if name not in kept)]:
            inner = said.get(name) if isinstance(said, dict) else None
            if name in kept:
                yield from _of_plan(kept[name], now.get(name), inner, f"{place}.{name}")
            elif isinstance(said, dict) and name in said:
                yield Difference(f"{place}.{name}", "absent", _shown(now[name]))
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        whole = said if isinstance(said, list) and len(said) == len(now) else now
        for index, (one, two, three) in enumerate(zip(kept, now, whole, strict=True)):
            yield from _of_plan(one, two, three, f"{place}[{index}]")
    elif kept != now:
        yield Difference(place, _shown(kept), _shown(now))


def _compared(kept: Value, now: Value, shape: object, place: str) -> Iterator[Difference]:
    if get_origin(shape) in (Union, types.UnionType):
        inside = [one for one in get_args(shape) if dataclasses.is_dataclass(one) or get_origin(one) is not None]
        shape = inside[0] if inside else object
    if isinstance(kept, dict) and isinstance(now, dict):
        defaults, inner = _members(shape)
        for name in dict.fromkeys([*kept, *now]):
            if name in NOT_DEFINING or (place == "versions" and not (name in kept and name in now)):
                continue
            where = f"{place}.{name}"
            one, two = (side.get(name, defaults.get(name, _Absent)) for side in (kept, now))
            if place.endswith(".settings") and _Absent in (one, two):
                continue  # what a switch is made of is compared where the lab is, with its defaults
            yield from _compared(one, two, inner.get(name, inner.get("*", object)), where)
    elif isinstance(kept, list) and isinstance(now, list) and len(kept) == len(now):
        for index, (one, two) in enumerate(zip(kept, now, strict=True)):
            yield from _compared(one, two, object, f"{place}[{index}]")
    elif kept != now:
        yield Difference(place, _shown(kept), _shown(now))


def _members(shape: object) -> tuple[JsonObject, dict[str, object]]:
    """Return the defaults of an object's members, and their shapes; `*` stands for names that are data."""
    if not isinstance(shape, type) or not dataclasses.is_dataclass(shape):
        arguments = get_args(shape)
        return {}, {"*": arguments[1] if len(arguments) > 1 else object}
    defaults: JsonObject = {}
    for one in dataclasses.fields(shape):
        if one.default is not dataclasses.MISSING:
            defaults[one.name] = plain(one.default)
        elif one.default_factory is not dataclasses.MISSING:
            defaults[one.name] = plain(one.default_factory())
    return defaults, {name: kind for name, (kind, _) in shapes.fields_of(shape).items()}


def _shown(value: Value) -> str:
    if value is _Absent:
        return "absent"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else f"{text[:80]}..."
