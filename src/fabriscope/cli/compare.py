"""`fabriscope compare`: two entries of a run, or a run against an earlier one; a script can act on it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _usage

if TYPE_CHECKING:
    from fabriscope.running.comparison import Comparison

EXIT_CONDITION = 11
EXIT_CONTROL = 12


@click.command("compare")
@click.argument("baseline_or_run", metavar="[BASELINE] RUN", nargs=-1, required=True, type=_usage.PATH)
@click.option("--left", metavar="SEL", help="compare this of RUN ...")
@click.option("--right", metavar="SEL", help="... with this: an entry's id (gige.tcp.inter), or words (gige,tcp)")
@click.option(
    "--of", "percentile", type=click.Choice(["p99", "p99.9"]),
    help="compare this percentile of the operations of each launch, not their median; times alone have one",
)  # fmt: skip
@click.option(
    "--fail-if", "conditions", metavar="COND", multiple=True,
    help="slower:5%, faster:5%, different:5% or undecided; may be given more than once",
)  # fmt: skip
@click.option("--margin", metavar="SHARE", help="differences below it are equivalent [default: the plan's, 3%]")
@click.option("--json", "as_json", is_flag=True, help="print everything as JSON, ratios and stored units")
@click.option("--junit", type=click.Path(path_type=Path, dir_okay=False), help="also write JUnit XML into this file")
def compare(
    baseline_or_run: tuple[Path, ...],
    left: str | None,
    right: str | None,
    percentile: str | None,
    conditions: tuple[str, ...],
    margin: str | None,
    as_json: bool,
    junit: Path | None,
) -> None:
    """Compare the entries of RUN with each other (paired), or RUN with BASELINE (unpaired).

    \b
    fabriscope compare RUN                                     every comparison of a run
    fabriscope compare RUN --left gige --right ethernet-100    two of its entries
    fabriscope compare BASELINE RUN --fail-if slower:5%        is RUN slower than BASELINE was?
    fabriscope compare RUN --of p99                            whose slow operations are slower?

    Exit code 11: a condition of --fail-if is met, or a case of BASELINE failed in RUN. 12: the A/A control failed.
    """
    if len(baseline_or_run) > 2 or (len(baseline_or_run) == 2 and (left or right)) or bool(left) != bool(right):
        raise click.UsageError("give RUN, with both of --left and --right or neither; or BASELINE and RUN")
    if (left and left == right) or len({os.path.realpath(path) for path in baseline_or_run}) < len(baseline_or_run):
        raise click.UsageError("what is compared with itself differs in nothing: name two things")
    from fabriscope.analysis.comparing.conditions import parse
    from fabriscope.cli import _junit
    from fabriscope.running import comparison

    with _usage.checked("--fail-if"):
        wanted = [parse(text) for text in conditions]
    share = _margin(margin)
    if junit is not None:
        _junit.check(junit)
    found = comparison.of(baseline_or_run, left, right, wanted, share, percentile)
    if junit is not None:
        _junit.write(junit, found)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=1, allow_nan=False))
    else:
        _print(found)
    if found.is_failed:
        raise SystemExit(EXIT_CONDITION)
    if found.control_failed:
        raise SystemExit(EXIT_CONTROL)


def _margin(text: str | None) -> float | None:
    share = _usage.share("--margin", text)
    if share is not None and not 0 < share < 1:
        raise click.UsageError(f"--margin: {text} is not more than 0 and less than 100%")
    return share


def _print(found: Comparison) -> None:
    from rich.table import Table

    from fabriscope.reports.terminal import console, escape

    output = console()
    output.print(f"[bold]{escape(found.title)}[/bold]")
    for sentence in found.notes:
        output.print(f"  [dim]{escape(sentence)}[/dim]")
    for one in found.pairs:
        output.print(f"\n{escape(one.where)}: {escape(one.text)}.")
        table = Table(box=None, pad_edge=False, header_style="dim")
        heads = (
            "size",
            *one.sides,
            "ratio",
            "95 % interval",
            "verdict",
            *(f"fail if {name}" for name in found.conditions),
        )
        for index, head in enumerate(heads):
            table.add_column(escape(head), justify="left" if index >= 5 else "right")
        for cells in one.cells():
            table.add_row(*map(escape, cells))
        output.print(table)
    if not found.pairs:
        output.print("nothing here can be compared")
    for sentence in found.conclusions():
        output.print(f"\n{escape(sentence)}")


COMMAND = compare
