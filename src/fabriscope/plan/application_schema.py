"""What a plan says of the applications that it runs."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from fabriscope.model.applications import CLASSES, KERNELS
from fabriscope.model.errors import shown
from fabriscope.model.foreign import is_digits
from fabriscope.plan.names import absolute
from fabriscope.plan.section import Section
from fabriscope.plan.strict import ProgramLimit, Truth
from fabriscope.plan.values import Share, Whole, unique

MAX_ORDER = 10_000_000
"""Of HPL's matrix; the largest machines' are about this."""
MAX_BLOCK = 4096
MAX_REPEATS = 1000
MAX_THREADS = 4096
MAX_RANKS = 4096
S_NS = 10**9

_COUNT = {"type": "integer", "minimum": 2, "maximum": MAX_RANKS}
Ranks = Annotated[
    tuple[Annotated[Whole, Field(ge=2, le=MAX_RANKS)], ...],
    BeforeValidator(unique),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [_COUNT, {"type": "array", "items": _COUNT, "minItems": 1}]}),
]


def _ranks() -> Any:
    return Field(None, description="which of the plan's numbers of ranks it is run on; absent: all that it can use")


def _one_of(known: tuple[str, ...], what: str) -> BeforeValidator:
    """Return the check of one of some names, or a list of them, in either case."""

    def parse(value: Any) -> tuple[str, ...]:
        items = tuple(str(item).upper() for item in unique(value))
        for item in items:
            if item not in known:
                raise ValueError(f"{shown(item)} is no {what}: choose {', '.join(known)}")
        if not items:
            raise ValueError("the list is empty")
        return tuple(dict.fromkeys(items))

    return BeforeValidator(parse)


def _one_of_schema(known: tuple[str, ...]) -> WithJsonSchema:
    item = {"enum": [*known, *map(str.lower, known)]}
    return WithJsonSchema({"anyOf": [item, {"type": "array", "items": item, "minItems": 1}]})


def _grid(value: Any) -> Any:
    """Return rows and columns of `2x4`."""
    hit = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", str(value).lower())
    if hit is None or not all(1 <= int(count) <= MAX_RANKS for count in hit.groups()):
        raise ValueError(f"{shown(value)} is no grid of processes such as 2x4")
    return (int(hit[1]), int(hit[2]))


_KERNELS = tuple(name.upper() for name in KERNELS)
Kernels = Annotated[tuple[str, ...], _one_of(_KERNELS, "kernel"), _one_of_schema(_KERNELS)]
Classes = Annotated[tuple[str, ...], _one_of(tuple(CLASSES), "class"), _one_of_schema(tuple(CLASSES))]
Grid = Annotated[
    tuple[int, int], BeforeValidator(_grid), WithJsonSchema({"type": "string", "examples": ["2x4"], "minLength": 3})
]


def _clock_hz(value: Any) -> float:
    """Return the frequency of `2.5GHz`."""
    number, unit = str(value).strip()[:-3].strip(), str(value).strip()[-3:].lower()
    factor = {"ghz": 1e9, "mhz": 1e6}.get(unit)
    if factor is None or not is_digits(number.replace(".", "", 1)):
        raise ValueError(f"{shown(value)} is no frequency such as 2.5GHz")
    return float(number) * factor


Clock = Annotated[float, BeforeValidator(_clock_hz), Field(ge=1e6, le=1e11)]


def _program(value: str) -> str:
    """Return a program's name, which is searched, or its path."""
    return absolute(value) if "/" in value or value.startswith("~") else value


Folder = Annotated[str, AfterValidator(absolute)]
Program = Annotated[str, AfterValidator(_program)]


def _profile() -> Any:
    return Field(False, description="count the calls of MPI as well, for the report's explanation; docs/profile.md")


class NpbSection(Section):
    """The NAS Parallel Benchmarks: our own kernels, the reference's programs, or both."""

    kernels: Kernels = Field(("FT", "IS", "MG", "BT"), description="BT, CG, EP, FT, IS, MG: a kernel, or a list")
    classes: Classes = Field(("S",), alias="class", description="S, W, A, B, C or D, or a list: the problem's size")
    ranks: Ranks | None = _ranks()
    repeats: Annotated[Whole, Field(ge=1, le=MAX_REPEATS)] = Field(
        1, description="times that one start of our kernels solves the problem, each from its initial data"
    )
    own: Truth = Field(True, description="run fabriscope's own kernels; docs/npb.md")
    reference: Folder | dict[str, Folder] | None = Field(
        None, description="also run the reference: the folder of ft.C.x, or one for each MPI library by its name"
    )
    profile: Truth = _profile()
    time_limit: ProgramLimit = Field(600 * S_NS, description="a run that takes longer is ended, and has failed")


class HplSection(Section):
    """HPL, by the user's xhpl or by hpcc."""

    program: Program | None = Field(
        None, description="path or name of xhpl or hpcc; absent: xhpl, or else hpcc, where it is found", min_length=1
    )
    ranks: Ranks | None = _ranks()
    n: Annotated[Whole, Field(ge=1, le=MAX_ORDER)] | None = Field(None, description="order of the matrix")
    memory: Annotated[Share, Field(gt=0, le=0.95)] | None = Field(
        None, description="instead of n: the share of the hosts' memory that the matrix takes"
    )
    nb: Annotated[Whole, Field(ge=1, le=MAX_BLOCK)] = Field(128, description="blocking factor")
    grid: Grid | None = Field(None, description="rows x columns of the ranks; absent: as square as they allow")
    threads: Annotated[Whole, Field(ge=1, le=MAX_THREADS)] = Field(1, description="threads of each rank's BLAS")
    clock: Clock | None = Field(
        None, description="nominal clock of a core, for the peak; absent: as the host says",
        json_schema_extra={"type": "string", "examples": ["2.5GHz"]},
    )  # fmt: skip
    flop_per_cycle: Annotated[Whole, Field(ge=1, le=1024)] | None = Field(
        None, description="double-precision operations that a core can do in a cycle; absent: of its instruction set"
    )
    profile: Truth = _profile()
    time_limit: ProgramLimit = Field(3600 * S_NS, description="a run that takes longer is ended, and has failed")

    @model_validator(mode="after")
    def _has_an_order(self) -> HplSection:
        if (self.n is None) is (self.memory is None):
            which = "n and memory are both given" if self.n else "the order of its matrix is missing"
            raise ValueError(f"{which}: write one of them, for example `n: 10000` or `memory: 80%`")
        return self


class ApplicationsSection(Section):
    """The applications by name."""

    npb: NpbSection | None = Field(None, description="NAS Parallel Benchmarks")
    hpl: HplSection | None = Field(None, description="HPL, and what else hpcc tells")
