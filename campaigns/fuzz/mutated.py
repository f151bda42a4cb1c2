"""Texts changed as a damaged disk, a strange version or an attacker would change them; the same for the same seed."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

NASTY = (
    b"\x00", b"inf", b"-inf", b"nan", b"-0", b"1e999", b"-1e999", b"9" * 400, b"null", b"true", b"{}", b"[]",
    b"[" * 2000, b'{"a":' * 2000, b"\xff\xfe", "٣".encode(), "²".encode(), b"1_000", b"0x10", b"-1", b"0", b"1.5",
    b"1e3", b"\x1b[2J", b"\r", b"\n", b"\t", b"'", b'"', b"\\", b"../../etc/passwd", b"%s%n", b"=cmd()", b"<script>",
    b" " * 5000, b"[usec]",
    b"[cycles]", b"[nsec]", b"18446744073709551616", b"9223372036854775808", b"2147483648", b"4294967295", b"A" * 20000,
    b"Gb/sec", b"MiB/sec", b"usec", b"nan%", b"#bytes", b",", b":", b";", b"=",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 1.5, 1e300, -0.0, 2**31, 2**63, 2**64, 10**400, "", "x", "12", "nan", "\u0663", "a\x00b",
    "../../x", [], {}, [[]], [None], {"a": None}, [1, "x"], "y" * 5000,
)  # fmt: skip

_SCALES = (0, 0.1, 0.5, 1.024, 1.048576, 2, 8, 10, 1000)
_NUMBER = re.compile(rb"(?<![\w.])[0-9]{1,18}(?:\.[0-9]{1,9})?(?![\w.])")


def chance_of(*words: object) -> random.Random:
    """Return what chooses at random, the same for the same words."""
    return random.Random(" ".join(map(str, words)))  # noqa: S311 - made to be repeated


def mutate(text: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a text with one to four changes."""
    for _ in range(chance.choice((1, 1, 1, 2, 3, 4))):
        text = chance.choice(_WAYS)(text, others, chance)
    return text[: 1 << 20]


def _flip(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    if not text:
        return text
    at = chance.randrange(len(text))
    return text[:at] + bytes([text[at] ^ 1 << chance.randrange(8)]) + text[at + 1 :]


def _digit(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    places = [at for at, byte in enumerate(text) if 48 <= byte <= 57]
    if not places:
        return text
    at = chance.choice(places)
    return text[:at] + chance.choice((b"0", b"1", b"5", b"9", b"", b".", b"-", b"e9")) + text[at + 1 :]


def _scale(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    """Multiply a number, which keeps its decimals, as a mistaken unit or size would."""
    numbers = [*_NUMBER.finditer(text[: 1 << 16])]
    if not numbers:
        return text
    hit = chance.choice(numbers)
    scaled = f"{float(hit[0]) * chance.choice(_SCALES):.{len(hit[0].partition(b'.')[2])}f}"
    return text[: hit.start()] + scaled.encode() + text[hit.end() :]


def _insert(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    at = chance.randint(0, len(text))
    return text[:at] + chance.choice(NASTY) + text[at:]


def _word(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    """Put something nasty in the place of a word."""
    words = text.split(b" ")
    words[chance.randrange(len(words))] = chance.choice(NASTY)
    return b" ".join(words)


def _cut(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    first, last = sorted(chance.randint(0, len(text)) for _ in range(2))
    return text[:first] + text[last:] if chance.random() < 0.5 else text[: chance.randint(0, len(text))]


def _lines(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    """Repeat, remove or move a line."""
    lines = text.split(b"\n")
    at, to = chance.randrange(len(lines)), chance.randrange(len(lines))
    line = lines[at]
    if chance.random() < 0.6:
        lines.pop(at)
    if chance.random() < 0.7:
        lines.insert(to, line)
    return b"\n".join(lines)


def _splice(text: bytes, others: Sequence[bytes], chance: random.Random) -> bytes:
    other = chance.choice(others)
    return text[: chance.randint(0, len(text))] + other[chance.randint(0, len(other)) :]


def _json_value(text: bytes, _others: Sequence[bytes], chance: random.Random) -> bytes:
    """Put something of another type in the place of a value of a line that is JSON, or of the whole text."""
    lines = [text] if chance.random() < 0.5 else text.split(b"\n")
    at = chance.randrange(len(lines))
    begin = min((place for place in (lines[at].find(b"{"), lines[at].find(b"[")) if place >= 0), default=-1)
    if begin < 0:
        return text
    try:
        value, end = json.JSONDecoder().raw_decode(lines[at][begin:].decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError):
        return text
    changed = _changed(value, chance)
    try:
        after = lines[at][begin:].decode("utf-8", "surrogateescape")[end:].encode("utf-8", "surrogateescape")
        made = json.dumps(changed).encode()
    except (ValueError, RecursionError):
        return text
    lines[at] = lines[at][:begin] + made + after
    return b"\n".join(lines)


def _changed(value: Any, chance: random.Random) -> Any:
    if isinstance(value, dict) and value and chance.random() < 0.85:
        name = chance.choice(list(value))
        if (kind := chance.random()) < 0.1:
            return {key: one for key, one in value.items() if key != name}
        if kind < 0.15:
            return {**value, chance.choice(("x", "type", "", "\u0000")): chance.choice(VALUES)}
        return {**value, name: _changed(value[name], chance)}
    if isinstance(value, list) and value and chance.random() < 0.85:
        at = chance.randrange(len(value))
        if (kind := chance.random()) < 0.1:
            return value[:at] + value[at + 1 :]
        if kind < 0.2:
            return [*value, value[at]]
        return [*value[:at], _changed(value[at], chance), *value[at + 1 :]]
    if isinstance(value, int) and not isinstance(value, bool) and chance.random() < 0.3:
        return value + chance.choice((-1, 1, 1000, -value - 1, 2**40))
    return chance.choice(VALUES)


_WAYS: tuple[Callable[[bytes, Sequence[bytes], random.Random], bytes], ...] = (
    _flip, *(_digit, _scale, _word, _lines) * 2, _insert, _cut, _splice, *(_json_value,) * 3,
)  # fmt: skip
