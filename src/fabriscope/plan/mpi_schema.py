"""What a plan says of an MPI library: which one it is, and what is set for its launches."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StrictBool

from fabriscope.model.errors import shown
from fabriscope.plan.names import HomePath, Label, VariableName, VariableValue
from fabriscope.plan.section import Section
from fabriscope.plan.values import Binding, as_list, one_setting, or_one, unique_names

Settings = dict[Label, Annotated[StrictBool | int | str, BeforeValidator(one_setting)]]


class MpiSection(Section):
    """One MPI library: found by name, or at a place."""

    name: Label = Field(
        description="as `fabriscope mpi list` shows it (module:openmpi/5.0 and spack:openmpi@5 too),"
        " or a name of your own together with path or library"
    )
    path: HomePath | None = Field(None, description="installation prefix, or path of mpirun")
    library: str | None = Field(
        None, description="the library as `fabriscope mpi list` shows it, where name is one of your own"
    )
    env: dict[VariableName, VariableValue] = Field({}, description="environment variables that it is started with")
    settings: Settings = Field({}, description="what is set for its launches and put back afterwards; docs/settings.md")
    bind: Binding = Field(
        None,
        description="bind every rank to a core, socket or numa node in turn, or to none;"
        " or processors for the first, second ... rank on every host; absent: as the library does by itself",
    )
    over: Literal["ucx", "libfabric"] | None = Field(
        None,
        description="what carries it over RDMA, for a library that was built on both;"
        " absent: UCX where it has that, and libfabric over iWARP, which UCX does not speak",
    )
    fabrics: Annotated[tuple[str, ...], Field(min_length=1), BeforeValidator(unique_names), or_one] | None = Field(
        None, description="only between hosts, and only over these fabrics"
    )


def mpi_list(value: Any) -> Any:
    """Return the libraries of a plan, each as a section, where names stand for them."""
    names = value.replace(",", " ").split() if isinstance(value, str) else []
    if len(names) > 1 and all(re.fullmatch(r"[A-Za-z0-9._-]{1,40}", name) for name in names):
        raise ValueError(f"{shown(value)} is the name of no library: write [{', '.join(names)}]")
    return [_named({"name": item}) if isinstance(item, str) else _named(item) for item in as_list(value)]


def _named(item: Any) -> Any:
    """Return a section whose name is one for files and labels, where a module or a package of Spack is meant."""
    name = item.get("name", item.get("library")) if isinstance(item, dict) else None
    if not isinstance(name, str) or not name.startswith(("module:", "spack:")):
        return item
    short = re.sub(r"[^A-Za-z0-9._-]+", "-", name.partition(":")[2]).strip("-")
    return {**item, "name": short, "library": item.get("library", name)}
