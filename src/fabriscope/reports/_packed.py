"""Specifications of figures as a page holds them: data by columns, and without what all figures share."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Mapping, Sequence

from fabriscope.reports._style import Spec

LEAST_REPEATS = 2
"""Texts that each stand in a column so often, on average, are written once."""
Row = Mapping[str, object]


def packed(spec: Spec, title: str) -> Spec:
    """Return the specification without its configuration, which a page has once, its rows as columns.

    A column that no layer draws is left out. A column is a plain value (the same in every row), a list of them, or
    `{"of": texts, "at": places in them}`; the page's script makes rows of it again. `title` is what a screen reader
    says of the figure.
    """
    found: Spec = {"description": title}
    drawn = set(re.findall(r"\w+", json.dumps({name: value for name, value in spec.items() if name != "datasets"})))
    for name, value in spec.items():
        if name == "datasets":
            found[name] = {key: _columns(rows, drawn) for key, rows in value.items()}
        elif name != "config":
            found[name] = value
    return found


def _columns(rows: Sequence[Row], drawn: Container[str]) -> dict[str, object]:
    names = [name for name in rows[0] if name in drawn] if rows else []
    return {"count": len(rows), "columns": {name: _column([row[name] for row in rows]) for name in names}}


def _column(values: Sequence[object]) -> object:
    first = values[0]
    if all(value == first and type(value) is type(first) for value in values):
        return first
    texts = [value for value in values if isinstance(value, str)]
    different = list(dict.fromkeys(texts))
    if len(texts) == len(values) and len(different) * LEAST_REPEATS <= len(values):
        places = {text: place for place, text in enumerate(different)}
        return {"of": different, "at": [places[text] for text in texts]}
    return list(values)
