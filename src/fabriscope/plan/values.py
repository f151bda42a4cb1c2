"""How the values of a plan are read, and what the JSON schema says of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    StrictBool,
    WithJsonSchema,
)
from pydantic_core import core_schema

from fabriscope.model.benchmarks import PARAMETERS
from fabriscope.model.errors import shown
from fabriscope.model.mpi import BINDING_UNITS
from fabriscope.model.units import parse_duration_ns, parse_rate_bits_per_s, parse_share, parse_size_bytes
from fabriscope.plan.scalars import MAX_INTEGER
from fabriscope.plan.sizes import parse_sizes

MAX_RANKS = 4096
MAX_CORES = 1 << 20
"""Of a host; more than the kernel knows."""
MAX_OPTION = 2**31 - 1
"""Socket options are of C's int."""
MAX_INLINE_BYTES = 1024
MAX_REQUESTS = 16384
"""What the engine takes (engine/src/verbs/options.cc)."""
MAX_ACK_TIMEOUT = 31
"""The field of a queue pair has five bits (InfiniBand specification, Local ACK Timeout)."""

_SIZE_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "examples": ["64KiB", "1MiB"]}]}
_RATE_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "string", "examples": ["1Gb/s", "100Mb/s"]}]}
_TIME_SCHEMA = {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "examples": ["5us", "2s", "3min"]}]}
_SHARE_SCHEMA = {"anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "examples": ["0.1%"]}]}
_HOSTS_SCHEMA = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
_SIZES_SCHEMA = {
    "anyOf": [
        {"type": "string", "examples": ["1..1MiB"]},
        {"type": "array", "items": _SIZE_SCHEMA, "minItems": 1},
        {
            "type": "object",
            "properties": {"from": _SIZE_SCHEMA, "to": _SIZE_SCHEMA, "perturbation": _SIZE_SCHEMA},
            "required": ["from", "to"],
            "additionalProperties": False,
        },
    ]
}


def one_setting(value: object) -> object:
    """Refuse what no setting of a host has: a list, a map, a fraction, nothing; raises ValueError."""
    if not isinstance(value, bool | int | str):
        raise ValueError("a setting has one value: a number, a word, or true or false")
    return value


def no_truth(value: Any) -> Any:
    """Return a value; raises ValueError for true and false, which Python would take for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError(f"{str(value).lower()} is not a number: write one in digits, such as 1")
    return value


Whole = Annotated[int, BeforeValidator(no_truth)]
Seed = Annotated[Whole, Field(ge=0, le=MAX_INTEGER)]
SizeBytes = Annotated[int, BeforeValidator(parse_size_bytes), WithJsonSchema(_SIZE_SCHEMA)]
RateBitsPerS = Annotated[int, BeforeValidator(parse_rate_bits_per_s), WithJsonSchema(_RATE_SCHEMA)]
DurationNs = Annotated[int, BeforeValidator(parse_duration_ns), WithJsonSchema(_TIME_SCHEMA)]
Share = Annotated[float, BeforeValidator(parse_share), WithJsonSchema(_SHARE_SCHEMA)]
Sizes = Annotated[tuple[int, ...], BeforeValidator(parse_sizes), WithJsonSchema(_SIZES_SCHEMA)]


def as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def unique(value: Any) -> Any:
    """Return a list, or a value alone, with what stands in it twice left out; what is no word or number stays."""
    items = as_list(value)
    return list(
        {
            (isinstance(item, bool), item if isinstance(item, str | int | float) else id(item)): item for item in items
        }.values()
    )


def _host_list(value: Any) -> str:
    items = as_list(value)
    if any(isinstance(item, bool) for item in items):
        raise ValueError(f"{shown(value)} is no host list; put a host's name such as yes, no, on or off in quotes")
    if any(not isinstance(item, str | int) for item in items):
        what = "a mapping" if isinstance(value, dict) else shown(value)
        raise ValueError(f"{what} is no host list; write it like node[1-4],head")
    return ",".join(map(str, items))


HostList = Annotated[str, BeforeValidator(_host_list), WithJsonSchema(_HOSTS_SCHEMA)]


def guest_lists(value: Any) -> Any:
    """Return a host list as a mapping that says nothing more of its hosts; and of a mapping, empty values so too."""
    if isinstance(value, dict):
        return {str(name): {} if one is None else one for name, one in value.items()}
    if value is True:
        raise ValueError("true is no host list: write all, where every host is a guest")
    text = _host_list(value)
    return {text: {}} if text else {}


def _default_as_none(value: Any) -> Any:
    items = unique(value) if value is not None else []
    if not items:
        raise ValueError("the list is empty")
    return [None if item == "default" else item for item in items]


def _swept(item_schema: dict[str, Any]) -> Any:
    item = {"anyOf": [item_schema, {"const": "default"}]}
    return WithJsonSchema({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})


SweptSocketBuffer = Annotated[
    tuple[Annotated[SizeBytes, Field(le=MAX_OPTION)] | None, ...],
    BeforeValidator(_default_as_none),
    _swept(_SIZE_SCHEMA),
]
SweptCongestionControl = Annotated[
    tuple[Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,15}$")] | None, ...],
    BeforeValidator(_default_as_none),
    _swept({"type": "string"}),
]
SweptMicroseconds = Annotated[
    tuple[Annotated[Whole, Field(ge=0, le=MAX_OPTION)] | None, ...],
    BeforeValidator(_default_as_none),
    _swept({"type": "integer"}),
]
SweptInline = Annotated[
    tuple[Annotated[SizeBytes, Field(le=MAX_INLINE_BYTES)] | None, ...],
    BeforeValidator(_default_as_none),
    _swept(_SIZE_SCHEMA),
]
SweptRequests = Annotated[
    tuple[Annotated[Whole, Field(ge=1, le=MAX_REQUESTS)] | None, ...],
    BeforeValidator(_default_as_none),
    _swept({"type": "integer", "minimum": 1, "maximum": MAX_REQUESTS}),
]
SweptAckTimeout = Annotated[
    tuple[Annotated[Whole, Field(ge=0, le=MAX_ACK_TIMEOUT)] | None, ...],
    BeforeValidator(_default_as_none),
    _swept({"type": "integer", "minimum": 0, "maximum": MAX_ACK_TIMEOUT}),
]
SweptCompletion = Annotated[
    tuple[Literal["polling", "event"] | None, ...],
    BeforeValidator(_default_as_none),
    _swept({"enum": ["polling", "event"]}),
]
SweptBool = Annotated[
    tuple[StrictBool, ...],
    BeforeValidator(unique),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [{"type": "boolean"}, {"type": "array", "items": {"type": "boolean"}}]}),
]
SweptWindow = Annotated[
    tuple[Annotated[Whole, Field(ge=1, le=4096)], ...],
    BeforeValidator(unique),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "array", "items": {"type": "integer"}}]}),
]


def _counts(least: int, *words: str) -> BeforeValidator:
    """Return the check of a count or a list of counts, each of which may be one of some words instead."""

    def parse(value: Any) -> tuple[int | str, ...]:
        items = tuple(unique(value))
        for item in items:
            is_count = isinstance(item, int) and not isinstance(item, bool) and least <= item <= MAX_RANKS
            if not is_count and item not in words:
                what = f"{shown(item)} is neither a count from {least} to {MAX_RANKS} nor {' or '.join(words)}"
                raise ValueError(f"{what}: write one, or a list such as [2, 4, 8]")
        if not items:
            raise ValueError("the list is empty")
        return items

    return BeforeValidator(parse)


def _counts_schema(least: int, *words: str) -> WithJsonSchema:
    item = {"anyOf": [{"type": "integer", "minimum": least, "maximum": MAX_RANKS}, {"enum": list(words)}]}
    return WithJsonSchema({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})


class NotPossible(ValueError):
    """A value that a parameter of a benchmark cannot have; which ones it can have is up to the benchmark."""

    def __init__(self, value: str) -> None:
        super().__init__(value)
        self.value = value


class Parameter:
    """One parameter of a benchmark: a value, or a list of values to sweep (`model.benchmarks.PARAMETERS`)."""

    def __init__(self, name: str) -> None:
        self.choices, _ = PARAMETERS[name]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_before_validator_function(self._parse, handler(source))

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        item = {"enum": [int(choice) if choice.isdigit() else choice for choice in self.choices]}
        return {"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]}

    def _parse(self, value: Any) -> tuple[str, ...]:
        items = tuple(dict.fromkeys(map(self._word, as_list(value))))
        for item in items:
            if item not in self.choices:
                raise NotPossible(item)
        if not items:
            raise ValueError("the list is empty")
        return items

    def _word(self, item: Any) -> str:
        if not isinstance(item, bool):
            return str(item)
        return str(int(item)) if self.choices == ("0", "1") else str(item).lower()


def parameter_field(name: str) -> Any:
    return Field((), description=PARAMETERS[name][1])


Swept = tuple[str, ...]
RankCounts = Annotated[tuple[int | str, ...], _counts(2, "all"), _counts_schema(2, "all")]
CoreCounts = Annotated[tuple[int | str, ...], _counts(1, "half", "all"), _counts_schema(1, "half", "all")]
Arrangements = Annotated[
    tuple[Literal["block", "cyclic"], ...],
    BeforeValidator(unique),
    Field(min_length=1),
    WithJsonSchema(
        {"anyOf": [{"enum": ["block", "cyclic"]}, {"type": "array", "items": {"enum": ["block", "cyclic"]}}]}
    ),
]


class _Written:
    """Says in the JSON schema how else a value may be written."""

    def __init__(self, also: Callable[[dict[str, Any]], list[dict[str, Any]]]) -> None:
        self._also = also

    def __get_pydantic_json_schema__(self, core: Any, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        schema = handler(core)
        return {"anyOf": [*self._also(schema), schema]}


def _host_lists(mapping: dict[str, Any]) -> list[dict[str, Any]]:
    mapping["additionalProperties"] = {"anyOf": [mapping["additionalProperties"], {"type": "null"}]}
    return [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]


or_name = _Written(lambda _: [{"type": "string"}])
"""Of a section: a name alone."""
or_one = _Written(lambda array: [array["items"]])
"""Of a list: one of its items alone."""
or_host_list = _Written(_host_lists)
"""Of a mapping of hosts: a host list alone."""


def unique_names(value: Any) -> Any:
    """Return a list of names, or a name alone, as a list in which each stands once; what is neither stays."""
    return unique(value) if isinstance(value, list | str) else value


Layers = Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(unique_names), or_one]
"""Some of a plan's layers: a name, or a list."""


def _bind(value: Any) -> Any:
    if value in BINDING_UNITS:
        return value
    items = tuple(as_list(value))
    if not items or any(type(item) is not int or not 0 <= item < MAX_CORES for item in items):
        raise ValueError(f"{shown(value)} is neither {', '.join(BINDING_UNITS[:-1])} or none nor a list of processors")
    return items


_BIND_SCHEMA = {
    "anyOf": [
        {"enum": list(BINDING_UNITS)},
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 1},
    ]
}
Binding = Annotated[str | tuple[int, ...] | None, BeforeValidator(_bind), WithJsonSchema(_BIND_SCHEMA)]
