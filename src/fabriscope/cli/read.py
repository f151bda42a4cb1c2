"""`fabriscope read`: what the log of a benchmark program says, in one set of units."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fabriscope.readers.base import Document
    from fabriscope.registry import Room

EXIT_UNREADABLE = 6
EXIT_PROBLEMS = 10
MOST_BYTES = 16 << 20
"""Of a log; larger ones are refused."""
_LOG = click.Path(exists=True, dir_okay=False, allow_dash=True, path_type=Path)


@click.command("read")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_LOG)
@click.option("--program", metavar="NAME", help="who wrote them, where that cannot be found out")
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
@click.option("--csv", "as_csv", is_flag=True, help="print one CSV table")
def read(files: tuple[Path, ...], program: str | None, as_json: bool, as_csv: bool) -> None:
    """Print what the logs of benchmark programs say, in one set of units and with every number's definition.

    FILE may be - for standard input. Which program wrote a log is found out; `--program` says it. Exit codes: 0 all was
    read, 6 a log is of no known program or contradicts itself, 10 a log is cut, or tells of a failure.
    """
    if as_json and as_csv:
        raise click.UsageError("give --json or --csv, not both")
    from fabriscope.cli import _documents
    from fabriscope.model.errors import FabriscopeError, ParseError
    from fabriscope.registry import discover

    room = discover("readers", "READER")
    if program is not None:
        try:
            room.get(program)
        except FabriscopeError as error:
            raise click.UsageError(str(error)) from error
    documents: list[tuple[str, Document]] = []
    unread: list[ParseError] = []
    for path in files:
        name = "standard input" if str(path) == "-" else str(path)
        try:
            documents.append((name, _document(_text(path, name), name, program, room)))
        except ParseError as error:
            unread.append(error)
    show = _documents.as_json if as_json else _documents.as_csv if as_csv else _documents.as_text
    click.echo(show(documents, unread), nl=False)
    if not as_json:
        for refusal in unread:
            click.echo(f"fabriscope: {refusal}", err=True)
    kinds = {problem.kind for _, document in documents for problem in document.problems}
    if unread or "refused" in kinds:
        raise click.exceptions.Exit(EXIT_UNREADABLE)
    if kinds:
        raise click.exceptions.Exit(EXIT_PROBLEMS)


def _text(path: Path, name: str) -> str:
    """Return a log's text, whatever its encoding; raises ParseError if it is too long."""
    from fabriscope.model import plain_files
    from fabriscope.model.errors import ParseError

    try:
        data = sys.stdin.buffer.read(MOST_BYTES + 1) if str(path) == "-" else plain_files.read(path, MOST_BYTES)
    except OSError as error:
        raise ParseError(f"it cannot be read: {plain_files.why(error)}", where=name) from error
    if len(data) > MOST_BYTES:
        raise ParseError(f"it is longer than {MOST_BYTES >> 20} MiB", where=name, fix="cut out what is to be read")
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")


def _document(text: str, name: str, program: str | None, room: Room) -> Document:
    """Return what a log says; raises ParseError if nobody, or more than one reader, knows it."""
    from fabriscope.model.errors import ParseError

    names = [program] if program else [one for one in sorted(room.plugins) if room.plugins[one].recognises(text)]
    if not names:
        known = ", ".join(f"{one} ({room.plugins[one].reads})" for one in sorted(room.plugins))
        raise ParseError("no known program wrote this", where=name, fix=f"known: {known}")
    if len(names) > 1:
        raise ParseError(f"this is output of {' and '.join(names)}", where=name, fix="say --program NAME for one")
    document: Document = room.plugins[names[0]].read(text)
    if not document.rows() and not document.problems:
        raise ParseError(f"no result of {names[0]} stands in this", where=name)
    return document


COMMAND = read
