"""Keys that stand beside the name that they belong below, in the same column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel

from fabriscope.plan.benchmark_sections import BenchmarkSection
from fabriscope.plan.mistakes import Mistake
from fabriscope.plan.schema import FabricSection

_SECTIONS: Mapping[str, type[BaseModel]] = {"fabrics": FabricSection, "benchmarks": BenchmarkSection}
"""Keys of a plan with names of the user's own below them, to what stands below each name."""


def misplaced(data: Mapping[str, object]) -> Iterator[Mistake]:
    """Yield the keys of fabrics and benchmarks that follow a name below which nothing stands.

    The document may be wrong in any other respect.
    """
    inside = data.get("fabrics")
    if isinstance(inside, Mapping) and isinstance(inside.get("benchmarks"), Mapping) and "benchmarks" not in data:
        what = "'benchmarks' stands below 'fabrics', as if it were a fabric"
        yield ("fabrics", "benchmarks"), what, "write it at the left margin"
        return
    for key, section in _SECTIONS.items():
        named = data.get(key)
        above = None
        for name, value in named.items() if isinstance(named, Mapping) else ():
            if name not in section.model_fields:
                above = name if value is None else None
            elif above is not None:
                what = f"nothing stands below {above!r}, and {name!r} beside it"
                yield (key, name), what, f"indent {name!r} below {above!r}"
