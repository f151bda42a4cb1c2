"""A log inside of JSON, as docker, Ansible and job systems keep what a program printed: who wrote it is told."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress

from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import Foreign
from fabriscope.readers.base import Reader

MOST_STRINGS = 20_000
MOST_CHARACTERS = 1 << 20
"""Of strings that are looked into."""
_STRING = re.compile(r'"((?:[^"\\\n]|\\.){1,1000000})"')
FIX = "write what stands in those strings into a file of its own (as `jq -r .log` does) and read that"


def programs(text: str, readers: Mapping[str, Reader]) -> dict[str, int]:
    """Return who wrote what stands in JSON's strings of several lines, and the line of the first of them."""
    if "\\n" not in text:
        return {}
    strings = list(_strings(text))
    inner = "".join(one for one, _ in strings)
    names = [name for name in sorted(readers) if readers[name].recognises(inner)] if inner else []
    return dict.fromkeys(names, text.count("\n", 0, strings[0][1]) + 1) if names else {}


def _strings(text: str) -> Iterator[tuple[str, int]]:
    size = 0
    for count, hit in enumerate(_STRING.finditer(text)):
        size += len(hit[1])
        if count >= MOST_STRINGS or size > MOST_CHARACTERS:
            return
        if "\\n" in hit[1]:
            with suppress(ParseError):  # it is no string of JSON
                yield Foreign.json(hit[0], "a string").text(), hit.start()
