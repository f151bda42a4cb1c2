"""What a plan tells the Intel MPI Benchmarks beside its benchmarks, by the names of the suite's own options."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from fabriscope.model.errors import shown
from fabriscope.model.imb import REFUSED, ImbOptions
from fabriscope.plan.section import Section
from fabriscope.plan.values import no_truth

MOST_REPETITIONS = 10_000_000
MOST_SECONDS, MOST_GBYTES = 3600.0, 1024.0
_COUNTS = re.compile(r"[1-9][0-9]{0,7}(?:,[1-9][0-9]{0,7}){0,2}")


def _counts(value: Any) -> Any:
    """Return the numbers of `-iter`: of `1000`, or of `1000,40,100` as the command line has them."""
    if isinstance(value, tuple | list):
        value = ",".join(map(str, value))  # as a run folder has it
        if not value:
            return ()
    text = str(value).replace(" ", "") if isinstance(value, int | str) and not isinstance(value, bool) else ""
    if not _COUNTS.fullmatch(text) or any(int(one) > MOST_REPETITIONS for one in text.split(",")):
        what = f"{shown(value)} is neither a number of repetitions nor up to three numbers"
        raise ValueError(f"{what}: write `iter: 1000`, or as on the command line `iter: 1000,40,100`")
    return tuple(int(one) for one in text.split(","))


def _word(value: Any) -> Any:
    """Return `on` and `off` as words, which YAML takes for truths."""
    return ("on" if value else "off") if isinstance(value, bool) else value


class ImbOptionsSection(Section):
    """Options of the suite's own that leave its numbers what they are."""

    iter: Annotated[
        tuple[int, ...],
        BeforeValidator(_counts),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "examples": ["1000,40,100"]}]}),
    ] = Field(
        (),
        description="repetitions of every size at most; or, as on the command line, with the MB (2^20 bytes) that they"
        " move at most, and the repetitions of what IMB-RMA completes together; absent: as many as fit the budget",
    )
    iter_policy: Annotated[Literal["dynamic", "multiple_np", "auto", "off"] | None, BeforeValidator(_word)] = Field(
        None, description="how IMB makes fewer repetitions where a size takes too long; absent: IMB's own"
    )
    time: Annotated[float, BeforeValidator(no_truth)] | None = Field(
        None, description="seconds that a size may take; absent: its share of the budget", gt=0, le=MOST_SECONDS
    )
    mem: Annotated[float, BeforeValidator(no_truth)] | None = Field(
        None, description="GB that the message buffers of a process may take; absent: IMB's own", gt=0, le=MOST_GBYTES
    )
    warm_up: Annotated[Literal["on", "off"] | None, BeforeValidator(_word)] = Field(
        None, description="whether every size is repeated before it is timed; absent: IMB's own"
    )

    @model_validator(mode="before")
    @classmethod
    def _no_other_definition(cls, data: Any) -> Any:
        names = [str(name).lstrip("-") for name in data] if isinstance(data, dict) else []
        refused = next((name for name in names if name in REFUSED), None)
        if refused is not None:
            raise ValueError(f"IMB is not told {refused}: {REFUSED[refused]}")
        return data

    def options(self) -> ImbOptions:
        """Return them as the suite is told."""
        most, volume, together = (*self.iter, None, None, None)[:3]
        warms_up = None if self.warm_up is None else self.warm_up == "on"
        return ImbOptions(most, volume, together, self.iter_policy, self.time, self.mem, warms_up)
