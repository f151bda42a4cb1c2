"""What every part of a plan is: unknown keys are errors, and truths are no numbers."""

from __future__ import annotations

from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator

from fabriscope.plan.values import no_truth


class Section(BaseModel):
    """A part of a plan: unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_for_a_number(cls, value: Any, about: ValidationInfo) -> Any:
        return no_truth(value) if _is_whole(cls.model_fields[about.field_name or ""].annotation) else value


def _is_whole(annotation: Any) -> bool:
    is_either = get_origin(annotation) in (Annotated, Union)
    return annotation is int or (is_either and any(_is_whole(one) for one in get_args(annotation)))
