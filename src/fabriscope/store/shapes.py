"""From JSON to the nouns of a run, whoever wrote it: a value of another type than its field is refused by its place.

A shape is a type: a dataclass for an object whose fields are known (others are passed over), `Mapping` for one whose
names are data. Readers may add fields, so a field with a default may be missing.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from fabriscope.model.foreign import shown
from fabriscope.model.limits import Amount, Count, Items, UnixNs, Within
from fabriscope.model.processors import Dealt, said_of
from fabriscope.model.profile import Profile
from fabriscope.model.record import Details, GroupAccount, Pool, ReadFrom
from fabriscope.model.turns import TurnsTaken

T = TypeVar("T")
Decoder = Callable[[object], object]
_NAMES = {str: "text", int: "a whole number", float: "a number", bool: "true or false", types.NoneType: "null"}
_UNIONS = (Union, types.UnionType)
_WHOLE = re.compile(r"[0-9]{1,18}")
_PAIR = re.compile(r"([0-9]{1,9})>([0-9]{1,9})")
_KEPT = "document"
"""The field of a noun that keeps the JSON that it was read from."""


class Misfit(ValueError):
    """What is wrong with a value, and where in the whole it is, as far as is known yet."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
        self.place = ""

    def inside(self, step: str) -> Misfit:
        """Return it with one more step before its place: `.hosts`, `[0]`."""
        self.place = step + self.place
        return self

    def __str__(self) -> str:
        place = self.place.removeprefix(".")
        return f"{place or 'it'} {self.what}"


def decode(value: object, shape: type[T], bits: int = 63) -> T:
    """Return parsed JSON as the noun that it stands for; whole numbers have at most that many bits.

    Raises ValueError with the place (`entries.gige.tcp.hosts[0]`) of the first thing that has another shape.
    """
    return cast(T, _decoder(cast(object, shape), bits)(value))


@cache
def _decoder(shape: object, bits: int = 63) -> Decoder:
    origin, arguments = get_origin(shape), get_args(shape)
    if shape is Details:
        return _details
    if shape in (Any, object):
        return lambda value: value
    if origin is Annotated:
        inner, limits = _decoder(arguments[0], max(bits, 64)), arguments[1]
        return _of_number(inner, limits) if isinstance(limits, Within) else _of_few(inner, limits)
    if origin is Literal:
        return _of_words(arguments)
    if origin in _UNIONS:
        return _of_several(arguments, bits)
    if isinstance(shape, type) and dataclasses.is_dataclass(shape):
        return _of_object(shape, bits)
    if origin in (Mapping, dict):
        return _of_mapping(_number_of if arguments[0] is int else _decoder(arguments[0]), _decoder(arguments[1], bits))
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _of_fixed([_decoder(kind, bits) for kind in arguments])
    if origin in (list, tuple, Sequence):
        return _of_list(_decoder(arguments[0], bits))
    return _of_scalars((cast(type, shape),), bits)


def _of_scalars(kinds: tuple[type, ...], bits: int) -> Decoder:
    words = " or ".join(_NAMES.get(kind, str(kind)) for kind in kinds)
    exact = frozenset(kinds)

    def decoded(value: object) -> object:
        kind = type(value)
        if kind is int:
            if (int in exact and abs(cast(int, value)) < 2**bits) or float in exact:
                return value
        elif kind in exact:
            return value
        raise Misfit(f"is {shown(value)}, and must be {words}")

    return decoded


def _of_number(decode_one: Decoder, limits: Within) -> Decoder:
    def decoded(value: object) -> object:
        number = cast(float, decode_one(value))
        if not limits.least <= number <= limits.most:
            raise Misfit(f"is {shown(value)}, and must be {limits.words()}")
        return number

    return decoded


def _of_few(decode_one: Decoder, limits: Items) -> Decoder:
    def decoded(value: object) -> object:
        if isinstance(value, list) and len(value) > limits.most:
            raise Misfit(f"has {len(value)} items, and {limits.most} are the most")
        return decode_one(value)

    return decoded


def _of_words(words: tuple[object, ...]) -> Decoder:
    def decoded(value: object) -> object:
        if isinstance(value, str) and value in words:
            return value
        wanted = " or ".join(map(str, words)) if isinstance(value, str) else _NAMES[str]
        raise Misfit(f"is {shown(value)}, and must be {wanted}")

    return decoded


def _of_several(kinds: tuple[object, ...], bits: int) -> Decoder:
    """Return what decodes a value of one of several kinds; what none fits is wrong as the one that has parts says."""
    scalars = tuple(kind for kind in kinds if isinstance(kind, type) and not dataclasses.is_dataclass(kind))
    structured = [kind for kind in kinds if kind not in scalars]
    of_scalars, of_structured = _of_scalars(scalars, bits), [_decoder(kind, bits) for kind in structured]

    def decoded(value: object) -> object:
        if not of_structured or not isinstance(value, dict | list):
            try:
                return of_scalars(value)
            except Misfit:
                if not of_structured:
                    raise
        misfits = []
        for decode_one in of_structured:
            try:
                return decode_one(value)
            except Misfit as misfit:
                misfits.append(misfit)
        raise misfits[0]

    return decoded


def _of_object(shape: type, bits: int) -> Decoder:
    of_fields = [
        (name, _decoder(kind, bits), needed) for name, (kind, needed) in fields_of(shape).items() if name != _KEPT
    ]
    keeps = _KEPT in fields_of(shape)

    def decoded(value: object) -> object:
        if not isinstance(value, dict):
            raise Misfit("is not an object")
        found: dict[str, object] = {_KEPT: value} if keeps else {}
        for name, decode_one, is_required in of_fields:
            if name in value:
                try:
                    found[name] = decode_one(value[name])
                except Misfit as misfit:
                    raise misfit.inside(f".{name}") from None
            elif is_required:
                raise Misfit("is missing").inside(f".{name}")
        return shape(**found)

    return decoded


def _of_mapping(decode_name: Decoder, decode_one: Decoder) -> Decoder:
    def decoded(value: object) -> object:
        if not isinstance(value, dict):
            raise Misfit("is not an object")
        found = {}
        for name, item in value.items():
            try:
                found[decode_name(name)] = decode_one(item)
            except Misfit as misfit:
                raise misfit.inside(f".{name}") from None
        return found

    return decoded


def _of_list(decode_one: Decoder) -> Decoder:
    def decoded(value: object) -> object:
        return _items(value, [decode_one] * len(value) if isinstance(value, list) else [])

    return decoded


def _of_fixed(decoders: list[Decoder]) -> Decoder:
    def decoded(value: object) -> object:
        if isinstance(value, list) and len(value) != len(decoders):
            raise Misfit(f"does not have {len(decoders)} items")
        return _items(value, decoders)

    return decoded


def _items(value: object, decoders: list[Decoder]) -> tuple[object, ...]:
    if not isinstance(value, list):
        raise Misfit("is not a list")
    found = []
    for index, (item, decode_one) in enumerate(zip(value, decoders, strict=True)):
        try:
            found.append(decode_one(item))
        except Misfit as misfit:
            raise misfit.inside(f"[{index}]") from None
    return tuple(found)


def _number_of(name: object) -> int:
    if not isinstance(name, str) or not _WHOLE.fullmatch(name):
        raise Misfit(f"has the name {shown(name)}, and must have whole numbers")
    return int(name)


def _details(value: object) -> Details:
    """Return what an instrument said of itself, as far as it is understood; others than our engine say what they like.

    What is of use only as it is meant (a clock's cost) is absent where it is something else; a launch whose cases or
    bytes are told wrongly is damaged.
    """
    if not isinstance(value, dict):
        raise Misfit("is not an object")
    header, footer, groups = (_object(value.get(name)) for name in ("header", "footer", "groups"))
    clock = _object(header.get("clock"))
    cost = _number(clock.get("cost_ns"))
    statuses, sent = value.get("exit_statuses"), value.get("sent_payload_bytes")
    return Details(
        hung_case_ids=_part(value, "hung_case_ids", _HUNG) or (),
        transport=str(header.get("transport", "")),
        clock_name=str(clock["name"]) if "name" in clock else None,
        clock_cost_ns=cost,
        record_cost_ns=_number(header["record_cost_ns"]) if "record_cost_ns" in header else cost,
        start_unix_ns=_part(header, "start_unix_ns", _MOMENT),
        is_whole=footer.get("status") == "ok",
        exit_statuses=tuple(statuses) if isinstance(statuses, list) else (),
        groups=_part(value, "groups", _GROUPS) or {} if groups else {},
        sent_payload_bytes=_sent(sent) if isinstance(sent, dict) else None,
        sent_messages=_part(value, "sent_messages", _COUNT),
        processors=said_of(header),
        bound=_part(value, "bound", _BOUND),
        turns=_part(value, "turns", _TURNS),
        turn_group=_part(value, "turn_group", _REASON),
        alone_because=_part(value, "alone_because", _REASON),
        read_from=_part(value, "read_from", _READ_FROM),
        profiles=_part(value, "profiles", _PROFILES) or {},
        profile_problems=_part(value, "profile_problems", _WHY) or {},
        pool=_part(value, "pool", _POOL),
        traps=_part(value, "traps", Mapping[str, Mapping[str, tuple[str, ...]]]) or {},
    )


_HUNG, _GROUPS, _SENT, _COUNT = tuple[str, ...], Mapping[str, GroupAccount], Mapping[str, Count], Count | None
_BOUND, _PROFILES, _WHY, _MOMENT = Dealt | None, Mapping[str, Profile], Mapping[str, str], UnixNs | None
_TURNS, _REASON, _READ_FROM, _POOL = TurnsTaken | None, str | None, ReadFrom | None, Pool | None


def _part(value: Mapping[str, object], name: str, shape: object) -> Any:
    try:
        return _decoder(shape)(value[name]) if name in value else None
    except Misfit as misfit:
        raise misfit.inside(f".{name}") from None


def _sent(value: dict[str, object]) -> dict[tuple[int, int], int]:
    found = {}
    for pair, size in _part({"sent_payload_bytes": value}, "sent_payload_bytes", _SENT).items():
        ends = _PAIR.fullmatch(pair)
        if ends is None:
            raise Misfit(f"has the name {pair[:40]!r}, and must have pairs of ranks").inside(".sent_payload_bytes")
        found[int(ends[1]), int(ends[2])] = size
    return found


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}


def _number(value: object) -> float | None:
    with contextlib.suppress(Misfit):
        return float(cast(float, _decoder(Amount)(value)))
    return None


@cache
def fields_of(shape: type) -> dict[str, tuple[object, bool]]:
    """Return a dataclass's fields: the type, and whether it has no default."""
    hints = get_type_hints(shape, include_extras=True)
    absent = dataclasses.MISSING
    fields: tuple[dataclasses.Field[object], ...] = dataclasses.fields(shape)
    return {
        field.name: (hints[field.name], field.default is absent and field.default_factory is absent) for field in fields
    }
