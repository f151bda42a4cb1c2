"""`fabriscope show`: the essentials of a run in the terminal."""

from __future__ import annotations

import json
from pathlib import Path

import click

from fabriscope.cli import _usage


@click.command("show")
@click.argument("run", type=_usage.PATH)
@click.option("--json", "as_json", is_flag=True, help="the same as JSON, in the stored units")
def show(run: Path, as_json: bool) -> None:
    """Show the essentials of RUN, a run folder: the answer, the summary table, failures."""
    from fabriscope import store
    from fabriscope.reports import terminal
    from fabriscope.running.evaluation import evaluating

    with evaluating(run):
        data = store.open_run(run).read()
        if as_json:
            click.echo(json.dumps(terminal.as_json(data), indent=1, allow_nan=False))
        else:
            terminal.show(data)


COMMAND = show
