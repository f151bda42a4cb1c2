"""Keys of a plan that the command line gives other values: they become part of its text, so that a run can resume."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fabriscope.model.errors import PlanError


def with_values(text: str, values: Mapping[str, Any], file: str) -> str:
    """Return the plan's text with top-level keys of other values; raises PlanError for a plan in braces."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith(("#", "---", "%"))), "")
    if values and first.lstrip().startswith("{"):
        names = " and ".join(f"--{name}" for name in values)
        fix = f"write {', '.join(values)} into the file"
        raise PlanError(f"{names} cannot be put into a plan that is written in braces", where=file, fix=fix)
    for name, value in values.items():
        line = f"{name}: {json.dumps(value)}  # from the command line"
        block = re.compile(rf"^{name}[ \t]*:.*(?:\n(?:[ \t]+.*|- .*|[ \t]*(?=\n[ \t])))*", re.MULTILINE)
        found = block.search(text)
        text = f"{text[: found.start()]}{line}{text[found.end() :]}" if found else f"{text.rstrip()}\n{line}\n"
    return text
