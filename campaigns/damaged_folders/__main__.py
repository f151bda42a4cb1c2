"""Damages a run's folder in hundreds of ways, and asks `show`, `report` and `verify` each time.

    python -m campaigns.damaged_folders [--count 300] [--seed 1]

The folder is made up (16 launches, raw output, counters). One half of the damage is to a folder as it was written, the
other to one whose digests were taken out, as if an older version had written it: there the readers alone must hold. A
command may end with an answer or with an error of fabriscope in one sentence; any other exception, and any command
that takes longer than 30 s, is wrong. `verify` must name the damaged file, and of a sealed folder `show` and `report`
too, where they read that file. Ends with 1 if anything was wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from campaigns.damaged_folders import mutations
from click.testing import CliRunner

from fabriscope.cli.report import COMMAND as REPORT
from fabriscope.cli.show import COMMAND as SHOW
from fabriscope.cli.verify import COMMAND as VERIFY
from fabriscope.model.errors import FabriscopeError
from fabriscope.store import age

LIMIT_S = 30
HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 2**63, 2**70, 10**400, 1e308, "", "x", "../../etc/passwd", "/etc/passwd", "\x1b[2J<script>",
    "\ud800", [], {}, [[]], {"a": {"a": {}}}, [None], "=1+1", "nan", float("nan"), float("inf"),
)  # fmt: skip
CORE = ("manifest.json", "journal.jsonl", "seal.json", "plan.yaml")


class TooSlow(Exception):
    """A command took too long."""


@dataclass(frozen=True)
class Damage:
    """What was done to a folder."""

    kind: str
    file: str
    must_name: bool = True
    """Whether `verify` must name the file: what was taken from a folder without digests may make sense still."""


def make_folder(place: Path) -> Path:
    """Return a run with everything that a run may have but reports."""
    run = mutations.make_run(place)
    shutil.rmtree(run / "report")
    return run


def strip_seals(run: Path) -> None:
    """Take all digests out, and all that a version without any never wrote, which says that there were some."""
    (run / "seal.json").unlink()
    manifest = json.loads((run / "manifest.json").read_text())
    for _, holder, name in list(age.newer_parts(manifest)):
        del holder[name]
    (run / "manifest.json").write_text(json.dumps(manifest))
    lines = [json.loads(text) for text in (run / "journal.jsonl").read_text().splitlines()]
    kept = ({name: value for name, value in line.items() if not age.newer_field({name: value})} for line in lines)
    (run / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in kept))


def _files(run: Path) -> list[str]:
    return sorted(
        path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file() and path.name != ".lock"
    )


def _pick(run: Path, chance: random.Random) -> str:
    """Return a file of the folder; those that are read most as often as all others together."""
    files = _files(run)
    core = [name for name in files if name in CORE or name.startswith(("samples", "counters"))]
    return chance.choice(core if chance.random() < 0.7 else files)


def bytes_of_file(run: Path, chance: random.Random) -> Damage:
    """Cut, empty, lengthen, or change bytes of a file."""
    name = _pick(run, chance)
    path = run / name
    content = bytearray(path.read_bytes())
    how = chance.choice(("cut", "empty", "lengthen", "flip", "zeros"))
    if how == "cut":
        content = content[: chance.randrange(len(content))] if content else bytearray(b"x")
    elif how == "empty":
        content = bytearray(b"" if content else b"x")
    elif how == "lengthen":
        content += chance.randbytes(chance.randrange(1, 4000))
    elif content:
        for _ in range(chance.randrange(1, 9)):
            at = chance.randrange(len(content))
            content[at] = 0 if how == "zeros" and content[at] else content[at] ^ chance.randrange(1, 256)
    path.write_bytes(content)
    return Damage(f"bytes: {how}", name)


def kind_of_file(run: Path, chance: random.Random) -> Damage:
    """Put a folder, a pipe, a link or nothing in place of a file."""
    name = _pick(run, chance)
    path = run / name
    path.unlink()
    how = chance.choice(("gone", "folder", "pipe", "link out", "link to itself", "device"))
    if how == "folder":
        path.mkdir()
    elif how == "pipe":
        os.mkfifo(path)
    elif how == "link out":
        path.symlink_to("/etc/passwd")
    elif how == "link to itself":
        path.symlink_to(path)
    elif how == "device":
        path.symlink_to("/dev/zero")
    return Damage(f"file: {how}", name)


def _nodes(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every place of a JSON value: what holds it, and its name there."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in items:
        yield value, name
        yield from _nodes(item)


def _change_value(value: Any, chance: random.Random) -> str:
    holder, name = chance.choice(list(_nodes(value)))
    how = chance.choice(("type", "type", "type", "remove", "deep", "rename"))
    if how == "remove":
        del holder[name]
    elif how == "deep":
        holder[name] = "DEEP"
    elif how == "rename" and isinstance(holder, dict):
        holder[f"{name}\n"] = holder.pop(name)
    else:
        holder[name] = chance.choice(HOSTILE)
    return how


def _text(value: Any) -> str:
    return json.dumps(value, separators=(",", ":")).replace('"DEEP"', "[" * 2000 + "]" * 2000)


def value_of_json(run: Path, chance: random.Random) -> Damage:
    """Give a field of the manifest, the seal or a line of the journal another type, or take it away."""
    names = ("manifest.json", "journal.jsonl", "journal.jsonl", "seal.json")
    name = chance.choice([one for one in names if (run / one).exists()])
    path = run / name
    if name == "journal.jsonl":
        lines = path.read_text().splitlines()
        at = chance.randrange(len(lines))
        value = json.loads(lines[at])
        how = _change_value(value, chance)
        is_same = lines[at] == _text(value)
        lines[at] = _text(value)
        path.write_text("\n".join(lines) + "\n")
    else:
        value = json.loads(path.read_text())
        how = _change_value(value, chance)
        is_same = json.loads(path.read_text()) == value
        path.write_text(_text(value))
    return Damage(f"{name}: {how}", name, must_name=not is_same and (run / "seal.json").exists())


def columns_of_samples(run: Path, chance: random.Random) -> Damage:
    """Give samples other columns, types, nulls, or numbers that are none."""
    path = chance.choice(sorted((run / "samples").iterdir()))
    frame = pl.read_parquet(path)
    column = chance.choice(frame.columns)
    how = chance.choice(("drop", "rename", "text", "null", "nan", "none", "list", "huge"))
    if how == "drop":
        frame = frame.drop(column)
    elif how == "rename":
        frame = frame.rename({column: "other"})
    elif how == "text":
        frame = frame.with_columns(pl.lit("x").alias(column))
    elif how == "null":
        frame = frame.with_columns(pl.lit(None, dtype=frame.schema[column]).alias(column))
    elif how == "nan":
        frame = frame.with_columns(pl.lit(float("nan")).alias("value"))
    elif how == "none":
        frame = frame.clear()
    elif how == "list":
        frame = frame.with_columns(pl.lit([1]).alias(column))
    else:
        frame = frame.with_columns(pl.lit(chance.choice((-1e308, 0.0, -1.0, float("inf")))).alias("value"))
    before = path.read_bytes()
    frame.write_parquet(path, compression="zstd")
    name = path.relative_to(run).as_posix()
    is_other = path.read_bytes() != before  # a column of nulls may have been one
    return Damage(f"samples: {how}", name, must_name=is_other and (run / "seal.json").exists())


def bomb(run: Path, chance: random.Random) -> Damage:
    """Put something packed in place of a packed file that unpacks to very much, or to JSON without end."""
    packed = [name for name in _files(run) if name.endswith(".gz")]
    name = chance.choice(packed)
    content = chance.choice((bytes(3 * 10**8), b"[" * 10**6, b'{"format": "fabriscope-counters"}\n', b"null\n"))
    (run / name).write_bytes(gzip.compress(content, 9))
    return Damage("packed", name)


KINDS: tuple[Callable[[Path, random.Random], Damage], ...] = (
    bytes_of_file, bytes_of_file, kind_of_file, value_of_json, value_of_json, value_of_json, columns_of_samples, bomb,
)  # fmt: skip


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TooSlow(f"after {LIMIT_S} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LIMIT_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def ask(run: Path, command: str, formats: tuple[str, ...] = ("markdown", "csv")) -> tuple[str, str]:
    """Return what a command said, and what is wrong with how it ended."""
    out = run.parent / "out"
    words = {
        "show": (SHOW, [str(run)]),
        "report": (REPORT, [str(run), "-o", str(out), *(word for name in formats for word in ("--format", name))]),
        "verify": (VERIFY, [str(run)]),
    }
    program, arguments = words[command]
    try:
        with _limited(), contextlib.redirect_stderr(io.StringIO()):
            ended = CliRunner().invoke(program, arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # what native code panics with is no Exception
        return "", f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
    problem = ended.exception
    if problem is None or isinstance(problem, SystemExit):
        return ended.output, ""
    if isinstance(problem, FabriscopeError):
        return f"{ended.output}{problem}", ""
    return ended.output, f"{type(problem).__name__}: {' '.join(str(problem).split())[:150]}"


def is_read(command: str, file: str) -> bool:
    """Return whether a command reads a file of a sealed folder, and so must notice."""
    return command == "verify" or not file.startswith("raw")


def damaged(run: Path, number: int, seed: int) -> Damage:
    """Damage a folder in the way of a number; every second one is without digests."""
    chance = random.Random(f"{seed}-{number}")  # noqa: S311 - damage, not secrets
    if number % 2:
        strip_seals(run)
    return chance.choice(KINDS)(run, chance)


def try_all(numbers: range, seed: int, say: Callable[[str], None]) -> Counter[str]:
    """Damage a folder in a number of ways; return how often each command ended how."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as place:
        whole = make_folder(Path(place))
        for number in numbers:
            run = Path(place) / f"damaged-{number}"
            shutil.copytree(whole, run)
            damage = damaged(run, number, seed)
            is_sealed = number % 2 == 0
            for command in ("show", "report", "verify"):
                text, wrong = ask(run, command)
                must_name = damage.must_name and (command == "verify" or (is_sealed and is_read(command, damage.file)))
                if (
                    not wrong
                    and must_name
                    and damage.file not in text
                    and not (command == "verify" and not is_sealed and "nothing was changed" in text)
                ):
                    wrong = f"{damage.file} is not named: {text.strip()[-300:]!r}"
                kind = "wrong" if wrong else "named" if damage.file in text else "unharmed"
                if wrong and "is not named" not in wrong:
                    kind = "traceback"
                counts[f"{command}: {kind}"] += 1
                if wrong:
                    say(f"{number} {'sealed' if is_sealed else 'bare'} {damage.kind} {damage.file}: {command}: {wrong}")
            shutil.rmtree(run)
    return counts


def main() -> int:
    """Damage and ask; print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    counts = try_all(range(asked.first, asked.first + asked.count), asked.seed, print)
    for name, count in sorted(counts.items()):
        print(f"{name}: {count}")
    return 1 if any("wrong" in name or "traceback" in name for name in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
