"""Variables of message libraries are the same on all hosts."""

from __future__ import annotations

from fabriscope.audit.check import Check, agree

CHECK = Check(
    "env-differs",
    "warning",
    "variables of message libraries are the same on all hosts",
    why="ranks behave differently",
    source="openucx/ucx#10325",
    look=agree(
        r"environment\.((?!variables$).+)",
        "the variable",
        told_by="env",
        remedy="export {0}={usual} from the launcher",
    ),
)
