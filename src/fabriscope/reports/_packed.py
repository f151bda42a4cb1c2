"""Specifications of figures as a page holds them: data by columns, and without what all figures share."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from itertools import groupby

from fabriscope.model.foreign import decode_json
from fabriscope.reports._style import Spec

LEAST_REPEATS = 2
"""What stands in a column at least this often, on average, is written once: values of runs of equal ones, or texts."""
LEAST_SHARED = 40
"""Parts of a specification whose JSON is at least this long are written once."""
Row = Mapping[str, object]


def packed(spec: Spec, title: str) -> Spec:
    """Return the specification without its configuration, which a page has once, its rows as columns.

    A column that no layer draws is left out. A column is a plain value (the same in every row), a list of them,
    `{"of": values, "times": in how many rows each stands}`, or `{"of": texts, "at": places in them}`; the page's script
    makes rows of it again. What layers have in common, as the axes, stands once in `shared`, and in its places
    `{"same": place in that}`. `title` is what a screen reader says of the figure.
    """
    found: Spec = {"description": title}
    drawn = set(re.findall(r"\w+", json.dumps({name: value for name, value in spec.items() if name != "datasets"})))
    for name, value in spec.items():
        if name == "datasets":
            found[name] = {key: _columns(rows, drawn) for key, rows in value.items()}
        elif name == "layer":
            texts: dict[int, str] = {}  # by the id of a part: they all live as long as the specification
            shared = _repeated(value, texts)
            places = {text: place for place, text in enumerate(shared)}
            found |= {"shared": [decode_json(text, title) for text in shared], name: _without(value, texts, places)}
        elif name != "config":
            found[name] = value
    return found


def _repeated(value: object, texts: dict[int, str]) -> list[str]:
    """Return the JSON of the parts of a specification that stand in it several times, and in no larger such part."""
    count = Counter(_long(value, texts, ()))
    repeated = {text for text, times in count.items() if times > 1}
    return [text for text, times in Counter(_long(value, texts, repeated)).items() if times > 1]


def _long(value: object, texts: dict[int, str], whole: Container[str]) -> Iterator[str]:
    """Yield the JSON of every long part, not of those inside of what is in `whole`; `texts` has what is known of it."""
    if isinstance(value, str | dict):
        text = texts.get(id(value)) or texts.setdefault(id(value), json.dumps(value, sort_keys=True))
        if len(text) < LEAST_SHARED:
            return
        yield text
        if text in whole:
            return
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for part in parts:
        yield from _long(part, texts, whole)


def _without(value: object, texts: Mapping[int, str], places: Mapping[str, int]) -> object:
    """Return the specification with places in `shared` where those parts stood."""
    place = places.get(texts.get(id(value), ""))
    if place is not None:
        return {"same": place}
    if isinstance(value, dict):
        return {name: _without(part, texts, places) for name, part in value.items()}
    return [_without(part, texts, places) for part in value] if isinstance(value, list) else value


def _columns(rows: Sequence[Row], drawn: Container[str]) -> dict[str, object]:
    names = [name for name in rows[0] if name in drawn] if rows else []
    return {"count": len(rows), "columns": {name: _column([row[name] for row in rows]) for name in names}}


def _column(values: Sequence[object]) -> object:
    if len(runs := [(key, len(list(group))) for key, group in groupby(values, lambda one: (type(one), one))]) == 1:
        return values[0]
    if len(runs) * LEAST_REPEATS <= len(values):
        return {"of": [value for (_, value), _ in runs], "times": [times for _, times in runs]}
    texts = [value for value in values if isinstance(value, str)]
    different = list(dict.fromkeys(texts))
    if len(texts) == len(values) and len(different) * LEAST_REPEATS <= len(values):
        places = {text: place for place, text in enumerate(different)}
        return {"of": different, "at": [places[text] for text in texts]}
    return list(values)
