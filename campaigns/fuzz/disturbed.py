"""Disturbs one row of a log as other processes and full disks do, and counts what a reader says nothing of.

    python -m campaigns.fuzz.disturbed                       # every row of every golden text and sample
    python -m campaigns.fuzz.disturbed --lines 6 --seed 3    # as many lines of each text, chosen by the seed
    python -m campaigns.fuzz.disturbed --program imb --show  # with each text of which nothing is said

A line of results is taken away, stands twice, stands twice with another number, has another program's line run into
it, or loses its end. A change is told if its reading has a problem that the whole text has not. Of the others those are
silent that have lost or doubled a row, or lost a number of one. What no reader can know is counted by itself: a number
that became another one, as `1.97` becomes `1.9`, and a sweep whose first or last row is gone.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from campaigns.fuzz.mutated import chance_of
from campaigns.fuzz.targets import SAMPLES, TEST_DATA

from fabriscope.readers.base import Document, Reader
from fabriscope.registry import discover

FOREIGN = (
    "[node1:123] UCX WARN x",
    "[1700000000.123456] [node01:2143 :0] parser.c:1911 UCX  WARN  unused env variable: UCX_HOME",
    "WARNING: There was an error initializing an OpenFabrics device.",
    "node7 17 of 32 done",
    "1700000000 heartbeat",
)
"""What other programs write to the same terminal."""
_LAST_NUMBER = re.compile(r"\d(?=\D*$)")
Change = Callable[[str, random.Random], str]


def _other_number(line: str, _chance: random.Random) -> str:
    other = _LAST_NUMBER.sub(lambda digit: str((int(digit[0]) + 1) % 10), line)
    return f"{line}\n{other}"


def _run_into(line: str, chance: random.Random) -> str:
    first = len(line) - len(line.lstrip()) + 1
    at = chance.randrange(first, max(len(line.rstrip()), first) + 1)
    end = chance.choice(("", "\n"))
    return f"{line[:at]}{chance.choice(FOREIGN)}{end}{line[at:]}"


def _cut(line: str, chance: random.Random) -> str:
    first = len(line) - len(line.lstrip()) + 1
    return line[: chance.randrange(first, max(len(line.rstrip()), first + 1))]


CHANGES: dict[str, Change] = {
    "gone": lambda _line, _chance: "",
    "twice": lambda line, _chance: f"{line}\n{line}",
    "twice, one otherwise": _other_number,
    "run into": _run_into,
    "cut": _cut,
}


@dataclass
class Found:
    """What became of the changes of one reader's texts."""

    told: Counter[str] = field(default_factory=Counter)
    """By the kind of change."""
    silent: Counter[str] = field(default_factory=Counter)
    unknowable: int = 0
    texts: list[tuple[str, str, int, str]] = field(default_factory=list)
    """Of silent ones: the file, the kind of change, the line, and what stands there instead."""


def texts_of(program: str, *, with_samples: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the names and texts with which a reader is tested, and those of the samples."""
    rooms = [TEST_DATA / "readers" / "data", TEST_DATA / "adapters" / "data"]
    rooms += [SAMPLES, SAMPLES / "logs"] if with_samples else []
    for folder in (room / program for room in rooms):
        for path in sorted(folder.glob("*")):
            if path.is_file() and (path.suffix != ".json" or SAMPLES in path.parents):
                yield f"{folder.parent.name}/{program}/{path.name}", path.read_text(errors="replace")


def _rows(document: Document) -> Counter[str]:
    return Counter(
        f"{table.name} {sorted((name, str(value)) for name, value in row.values.items())}"
        for table in document.tables
        for row in table.rows
    )


def _shape(document: Document) -> list[list[list[str]]]:
    """Return which numbers each row of each table has."""
    return [[list(row.values) for row in table.rows] for table in document.tables]


def _told(document: Document) -> Counter[str]:
    return Counter(re.sub(r"lines? \d+", "line", problem.text) for problem in document.problems)


def _lines(document: Document, lines: Sequence[str], most: int, chance: random.Random) -> list[int]:
    """Return places of lines that may be of results, those of rows first."""
    of_rows = sorted({row.line - 1 for row in document.rows() if 0 < row.line <= len(lines)})
    if not of_rows:
        return []
    first, last = min(table.line for table in document.tables), max(of_rows) + 30
    others = [place for place in range(first, min(last, len(lines))) if place not in of_rows and lines[place].strip()]
    if most:
        chosen = chance.sample(of_rows, min(most, len(of_rows)))
        return [*chosen, *chance.sample(others, min(most - len(chosen), len(others)))]
    return [*of_rows, *others]


def disturb(reader: Reader, most: int, seed: int, *, with_samples: bool = True) -> Found:
    """Return what became of the changes of a reader's texts; `most` lines of each, 0 for all."""
    found = Found()
    for name, text in texts_of(reader.name, with_samples=with_samples):
        whole = reader.read(text)
        if whole.problem("refused"):
            continue
        rows, told = _rows(whole), _told(whole)
        chance = chance_of(name, seed)
        lines = text.split("\n")
        ends = {table.rows[at].line for table in whole.tables if len(table.rows) > 1 for at in (0, -1)}
        for place in _lines(whole, lines, most, chance):
            for kind, change in CHANGES.items():
                changed = change(lines[place], chance)
                parts = [*lines[:place], *([changed] if changed else []), *lines[place + 1 :]]
                disturbed = "\n".join(parts)
                document = reader.read(disturbed)
                is_refused = not reader.recognises(disturbed) or not (document.rows() or document.problems)
                if is_refused or _told(document) - told:
                    found.told[kind] += 1
                elif kind == "gone" and place + 1 in ends:
                    found.unknowable += 1
                elif _shape(document) != _shape(whole):
                    found.silent[kind] += 1
                    found.texts.append((name, kind, place + 1, changed[:200]))
                else:
                    found.unknowable += _rows(document) != rows
    return found


def main() -> None:
    """See the module's docstring."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--program", help="a reader's name; without it all")
    parser.add_argument("--lines", type=int, default=0, help="of each text; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", action="store_true", help="print each change of which nothing is said")
    arguments = parser.parse_args()
    readers = discover("readers", "READER").plugins
    print(f"| reader | told | unknowable | silent | {' | '.join(CHANGES)} |\n|---|---|---|---|{'---|' * len(CHANGES)}")
    silent = told = 0
    for name in [arguments.program] if arguments.program else sorted(readers):
        found = disturb(readers[name], arguments.lines, arguments.seed)
        told, silent = told + found.told.total(), silent + found.silent.total()
        kinds = " | ".join(str(found.silent[kind]) for kind in CHANGES)
        print(f"| {name} | {found.told.total()} | {found.unknowable} | {found.silent.total()} | {kinds} |", flush=True)
        for place in found.texts if arguments.show else ():
            print(f"    {place}")
    print(f"{told} told, {silent} silent")


if __name__ == "__main__":
    main()
