"""Changes a run's folder or its reports in a thousand ways, and asks `fabriscope verify` each time.

    python -m campaigns.damaged_folders.mutations [--count 1000] [--seed 1]

The folder is made up (16 launches, with raw output and every report), and is put back after each change. A change
counts as found when a finding names its file, and as located when the finding names the row, line or field too. Prints
a table of the kinds, and every change that was not located; ends with 1 if one was not refused.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from tests.analysis.made_up import Shape, write_run  # noqa: E402

from fabriscope import store  # noqa: E402
from fabriscope.registry import discover  # noqa: E402
from fabriscope.reports.base import Options  # noqa: E402
from fabriscope.running.verify import verify  # noqa: E402

SHAPE = Shape(
    sizes=(8, 1024, 65536), launch_count=2, samples_per_burst=6, stacks=("mpich-5.0.2",), benchmarks=("ping_pong",),
    failing=frozenset({(1, 1)}), says_samples=True,
)  # fmt: skip
FORMATS = ("html", "markdown", "csv")


@dataclass(frozen=True)
class Mutation:
    """What was changed."""

    files: tuple[str, ...]
    """The changed files; a finding must name one of them."""
    place: str = ""
    """What the finding must say of the place, where it can be told."""


def make_run(folder: Path) -> Path:
    """Write the run with its reports and return its path."""
    run = write_run(folder / "run", SHAPE)
    run.end()
    out = run.path / "report"
    out.mkdir()
    data = store.open_run(run.path).read()
    for name in FORMATS:
        discover("reports", "REPORT").get(name).render(data, out, Options())
    return run.path


# Changes: each takes the run's path and a source of chance, and returns what it changed.


def digit_of_text(name: str) -> Callable[[Path, random.Random], Mutation]:
    """Return the change of one digit of a text file."""

    def change(run: Path, chance: random.Random) -> Mutation:
        path = run / name
        content = bytearray(path.read_bytes())
        where = [at for at, byte in enumerate(content) if chr(byte).isdigit()]
        at = chance.choice(where or [at for at, byte in enumerate(content) if chr(byte).isalpha()])
        content[at] = ord(_other_digit(chr(content[at]), chance))
        path.write_bytes(content)
        line = content[:at].count(b"\n") + 1
        if name == "manifest.json":
            return Mutation((name,), _last_key(bytes(content), line))
        return Mutation((name,), f"line {line}" if name != store_seal() else "")

    return change


def store_seal() -> str:
    """Return the name of the seal's file."""
    return "seal.json"


def _last_key(content: bytes, line: int) -> str:
    """Return the key on a line of indented JSON, if the line has one that was not hit."""
    match = re.match(rb'\s*"([a-z_]+)":', content.split(b"\n")[line - 1])
    return match[1].decode() if match else ""


def _other_digit(digit: str, chance: random.Random) -> str:
    return chance.choice([one for one in "0123456789" if one != digit])


def journal_lines(run: Path, chance: random.Random) -> Mutation:
    """Remove, repeat or swap lines of the journal."""
    path = run / "journal.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    at = chance.randrange(len(lines))
    kind = chance.choice(("remove", "repeat", "swap", "torn"))
    if kind == "remove":
        del lines[at]
    elif kind == "repeat":
        lines.insert(at, lines[at])
    elif kind == "torn":
        lines[-1] = lines[-1][: chance.randrange(1, len(lines[-1]) - 1)]
    else:
        at = min(at, len(lines) - 2)
        lines[at], lines[at + 1] = lines[at + 1], lines[at]
    path.write_text("".join(lines))
    return Mutation(("journal.jsonl",), "line")


def cell_of_samples(run: Path, chance: random.Random) -> Mutation:
    """Change one digit of one number of one sample."""
    path = chance.choice(sorted((run / "samples").iterdir()))
    frame = pl.read_parquet(path)
    row = chance.randrange(frame.height)
    column = chance.choice(("value", "value", "value", "start_ns", "burst", "round", "block", "operations_per_sample"))
    values = frame[column].to_list()
    digits = list(str(int(values[row])))
    at = chance.randrange(len(digits))
    digits[at] = _other_digit(digits[at], chance)
    values[row] = int("".join(digits))
    frame.with_columns(pl.Series(column, values, dtype=frame[column].dtype)).write_parquet(path, compression="zstd")
    return Mutation((f"samples/{path.name}",), f"row {row}, {column}")


def row_of_samples(run: Path, chance: random.Random) -> Mutation:
    """Remove, repeat or swap rows of samples."""
    path = chance.choice(sorted((run / "samples").iterdir()))
    frame = pl.read_parquet(path)
    rows = list(range(frame.height))
    kind, at = chance.choice(("remove", "repeat", "swap")), chance.randrange(frame.height)
    if kind == "remove":
        del rows[at]
    elif kind == "repeat":
        rows.insert(at, at)
    else:
        other = chance.choice([row for row in rows if frame.row(row) != frame.row(at)])
        rows[at], rows[other] = rows[other], rows[at]
    frame[rows].write_parquet(path, compression="zstd")
    return Mutation((f"samples/{path.name}",), "row")


def byte_of_file(run: Path, chance: random.Random) -> Mutation:
    """Flip a bit of a compressed file."""
    path = chance.choice([*sorted((run / "samples").iterdir()), *sorted((run / "raw").rglob("*.gz"))])
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)
    return Mutation((path.relative_to(run).as_posix(),))


def digit_of_raw(run: Path, chance: random.Random) -> Mutation:
    """Change one digit of what a process said."""
    path = chance.choice(sorted((run / "raw").rglob("*.stdout.gz")))
    content = bytearray(gzip.decompress(path.read_bytes()))
    at = chance.choice([at for at, byte in enumerate(content) if chr(byte).isdigit()])
    content[at] = ord(_other_digit(chr(content[at]), chance))
    path.write_bytes(gzip.compress(bytes(content), mtime=0))
    line = bytes(content[:at]).count(b"\n") + 1
    return Mutation((path.relative_to(run).as_posix(),), f"line {line}")


def whole_file(run: Path, chance: random.Random) -> Mutation:
    """Remove, empty, cut, or exchange a file of the run or of a report, or add one."""
    files = [path for path in sorted(run.rglob("*")) if path.is_file() and path.name not in (".lock", "failures.csv")]
    path = chance.choice(files)
    name = path.relative_to(run).as_posix()
    is_report = name.startswith("report/") and not name.endswith(".csv")
    kind = chance.choice(("empty", "cut", "exchange", "add", "remove"))
    if kind == "remove" and not is_report:
        path.unlink()
    elif kind == "exchange":
        alike = [one for one in files if one.suffix == path.suffix and one.read_bytes() != path.read_bytes()]
        other = chance.choice(alike) if alike else files[0]
        first, second = path.read_bytes(), other.read_bytes()
        path.write_bytes(second)
        other.write_bytes(first)
        return Mutation((name, other.relative_to(run).as_posix()))
    elif kind == "add" and name.startswith(("samples/", "raw/")):
        other = path.with_name(f"launch-0099{path.suffix}")
        other.write_bytes(path.read_bytes())
        return Mutation((other.relative_to(run).as_posix(),))
    elif kind == "cut" and len(path.read_bytes()) > 1:
        content = path.read_bytes()
        path.write_bytes(content[: chance.randrange(len(content) - 1)])
    else:
        if not path.read_bytes():
            return whole_file(run, chance)
        path.write_bytes(b"")
    return Mutation((name,))


def part_of_manifest(run: Path, chance: random.Random) -> Mutation:
    """Remove a case, a launch, a fact or a fabric from the manifest."""
    path = run / "manifest.json"
    manifest = json.loads(path.read_text())
    part = chance.choice(("cases", "schedule", "fabrics", "entries", "hosts"))
    if isinstance(manifest[part], list):
        del manifest[part][chance.randrange(len(manifest[part]))]
    else:
        del manifest[part][chance.choice(list(manifest[part]))]
    path.write_text(json.dumps(manifest, indent=1) + "\n")
    return Mutation(("manifest.json",))


def digit_of_page(run: Path, chance: random.Random) -> Mutation:
    """Change one digit of the page outside its script library, or, one time in ten, in it."""
    path = run / "report" / "report.html"
    text = path.read_text()
    start = text.index('<script type="application/gzip" id="library">')
    end = text.index("</script>", start)
    in_library = chance.random() < 0.1
    parts = [(start, end)] if in_library else [(0, start), (end, len(text))]
    where = [at for first, last in parts for at in range(first, last) if text[at] in "0123456789"]
    at = chance.choice(where)
    path.write_text(text[:at] + _other_digit(text[at], chance) + text[at + 1 :])
    line = text.count("\n", 0, at) + 1
    return Mutation(("report/report.html",), "library" if in_library else f"line {line}")


def row_of_report(run: Path, chance: random.Random) -> Mutation:
    """Remove or repeat a line of a table of a report."""
    tables = [path for path in sorted((run / "report").glob("*.csv")) if len(path.read_text().splitlines()) > 1]
    path = chance.choice([*tables, run / "report" / "report.md", run / "report" / "report.html"])
    lines = path.read_text().splitlines(keepends=True)
    marks = {".md": "|", ".html": "<tr"}
    rows = [at for at, line in enumerate(lines) if line.startswith(marks.get(path.suffix, "")) and at]
    at = chance.choice(rows)
    if chance.random() < 0.5:
        del lines[at]
    else:
        lines.insert(at, lines[at])
    path.write_text("".join(lines))
    return Mutation((f"report/{path.name}",), "line")


def digit_of_table(run: Path, chance: random.Random) -> Mutation:
    """Change one digit of a CSV file of the report."""
    tables = [path for path in sorted((run / "report").glob("*.csv")) if re.search(r"\d", path.read_text())]
    return digit_of_text(f"report/{chance.choice(tables).name}")(run, chance)


KINDS: dict[str, tuple[int, Callable[[Path, random.Random], Mutation]]] = {
    "a digit of the manifest": (4, digit_of_text("manifest.json")),
    "a digit of the journal": (4, digit_of_text("journal.jsonl")),
    "a digit of the seal": (2, digit_of_text("seal.json")),
    "a letter of the plan": (1, digit_of_text("plan.yaml")),
    "a digit of a sample": (5, cell_of_samples),
    "a digit of the raw output": (3, digit_of_raw),
    "a bit of a packed file": (3, byte_of_file),
    "a row of the samples": (3, row_of_samples),
    "a line of the journal": (3, journal_lines),
    "a part of the manifest": (2, part_of_manifest),
    "a file": (4, whole_file),
    "a digit of the page": (4, digit_of_page),
    "a digit of a table": (3, digit_of_table),
    "a digit of the Markdown file": (2, digit_of_text("report/report.md")),
    "a row of a report": (2, row_of_report),
}
"""Kind to how often it is tried, and what it does."""


@dataclass
class Result:
    """How many changes of one kind were tried, refused, found in the right file, and located in it."""

    tried: int = 0
    refused: int = 0
    named: int = 0
    located: int = 0


def try_all(run: Path, count: int, seed: int, say: Callable[[str], None]) -> dict[str, Result]:
    """Change the run `count` times and put it back each time; return what came of each kind."""
    before = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    chance = random.Random(seed)  # noqa: S311 - no cryptography
    results = {kind: Result() for kind in KINDS}
    kinds = chance.choices(list(KINDS), [weight for weight, _ in KINDS.values()], k=count)
    for number, kind in enumerate(kinds):
        mutation = KINDS[kind][1](run, random.Random(f"{seed}.{number}"))  # noqa: S311
        account = verify(run)
        result = results[kind]
        result.tried += 1
        result.refused += bool(account.findings)
        files = tuple(str(run / name) for name in mutation.files)
        fitting = [one for one in account.findings if one.file in mutation.files or one.file in files]
        result.named += bool(fitting)
        result.located += any(mutation.place in one.place for one in fitting)
        if not any(mutation.place in one.place for one in fitting):
            said = "; ".join(one.sentence() for one in account.findings) or "nothing was found"
            say(f"{number}: {kind}: {mutation}: {said}")
        _put_back(run, before)
    return results


def _put_back(run: Path, before: dict[Path, bytes]) -> None:
    for path in list(run.rglob("*")):
        if path.is_file() and path not in before:
            path.unlink()
    for path, content in before.items():
        if not path.exists() or path.read_bytes() != content:
            path.write_bytes(content)


def main() -> int:
    """Run the campaign and print its table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=1000)
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="fabriscope-mutations-") as folder:
        run = make_run(Path(folder))
        if verify(run).findings:
            print("the run does not verify before it is changed")
            return 1
        results = try_all(run, given.count, given.seed, print)
    print("| changed | times | refused | file named | row, line or field named |")
    print("|---|---|---|---|---|")
    for kind, one in results.items():
        print(f"| {kind} | {one.tried} | {one.refused} | {one.named} | {one.located} |")
    total = Counter[str]()
    for one in results.values():
        total.update(vars(one))
    print(f"| in all | {total['tried']} | {total['refused']} | {total['named']} | {total['located']} |")
    print(f"{time.monotonic() - started:.0f} s")
    return 0 if total["refused"] == total["tried"] else 1


if __name__ == "__main__":
    sys.exit(main())
