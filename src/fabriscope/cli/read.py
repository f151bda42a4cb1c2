"""`fabriscope read`: what the log of a benchmark program says, in one set of units."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from fabriscope.model.errors import ParseError
    from fabriscope.readers.base import Document

EXIT_UNREADABLE = 2
EXIT_PROBLEMS = 10
_LOG = click.Path(allow_dash=True, readable=False, path_type=Path)


@click.command("read")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=_LOG)
@click.option("--program", metavar="NAME", help="who wrote them, where that cannot be found out")
@click.option("--json", "as_json", is_flag=True, help="print one JSON object")
@click.option("--csv", "as_csv", is_flag=True, help="print one CSV table")
def read(files: tuple[Path, ...], program: str | None, as_json: bool, as_csv: bool) -> None:
    """Print what the logs of benchmark programs say, in one set of units and with every number's definition.

    FILE may be compressed, or - for standard input. Which programs wrote a log is found out; `--program` says it.
    Exit codes: 0 all was read, 2 a log, or a part of one, was left out (it is of no known program, is cut or
    contradicts itself), 10 a log tells of a failure.

    \b
        fabriscope read job-1234.out
        fabriscope read --json logs/*.txt.gz
    """
    if as_json and as_csv:
        raise click.UsageError("give --json or --csv, not both")
    from fabriscope.cli import _documents
    from fabriscope.model.errors import FabriscopeError
    from fabriscope.readers import log
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
            documents += [(name, one) for one in log.documents(log.read_text(path, name), room.plugins, name, program)]
        except Exception as error:  # one of ours at a log is no reason to tell nothing of the others
            unread.append(_as_refusal(error, name))
    show = _documents.as_json if as_json else _documents.as_csv if as_csv else _documents.as_text
    click.echo(show(documents, unread), nl=False)
    for refusal in [*unread, *(error for name, one in documents for error in _left_out(name, one))]:
        click.echo(f"fabriscope: {refusal}", err=True)
    kinds = {problem.kind for _, document in documents for problem in document.problems} - {"noted"}
    if unread or kinds:
        raise click.exceptions.Exit(EXIT_UNREADABLE if unread or kinds - {"said"} else EXIT_PROBLEMS)


def _as_refusal(error: Exception, name: str) -> ParseError:
    """Return an error as it is told of a log; one that nobody foresaw is kept, to be reported."""
    from fabriscope import bug_log
    from fabriscope.model.errors import ParseError

    return error if isinstance(error, ParseError) else ParseError(bug_log.report(error, f"reading {name}"), where=name)


def _left_out(name: str, document: Document) -> list[ParseError]:
    """Return why a document, or the rest of one, was not read."""
    from fabriscope.model.errors import ParseError

    problem = document.problem("refused") or document.problem("cut")
    where = f"{name}, line {problem.line}" if problem is not None and problem.line else name
    return [] if problem is None else [ParseError(problem.text, where=where)]


COMMAND = read
