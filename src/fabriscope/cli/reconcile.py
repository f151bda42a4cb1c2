"""`fabriscope reconcile`: what several programs state of one link, brought to one definition."""

from __future__ import annotations

import json
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _usage

if TYPE_CHECKING:
    from fabriscope.analysis.comparing.reconciled import Reconciled

EXIT_NOTHING = 2


@click.command("reconcile")
@click.argument("run", metavar="RUN", type=_usage.PATH)
@click.option("--json", "as_json", is_flag=True, help="print JSON, in the stored units")
def reconcile(run: Path, as_json: bool) -> None:
    """Set what several programs printed of one link beside ours by each one's definition.

    RUN is the folder of a run whose plan names `instruments`: ours and others. Exit code 2: no two programs of it state
    one thing.

    \b
        fabriscope reconcile RUN
    """
    from fabriscope import store
    from fabriscope.analysis.results import results_of
    from fabriscope.reports import terminal
    from fabriscope.running.evaluation import evaluating

    with evaluating(run):
        data = store.open_run(run).read()
        found = results_of(data).reconciled
        if not found:
            click.echo(f"fabriscope: no two programs of {run} state one thing at one size", err=True)
            raise SystemExit(EXIT_NOTHING)
        if as_json:
            click.echo(json.dumps([_as_dict(one) for one in found], indent=1, allow_nan=False))
        else:
            terminal.show_section(data, "reconcile")


def _as_dict(one: Reconciled) -> dict[str, object]:
    curve = {name: value for name, value in vars(one.curve).items() if name != "instrument"}
    return {
        **curve, "what": one.what, "message_size_bytes": one.message_size_bytes,
        "spread_before": one.spread_before, "spread_after": one.spread_after,
        "statements": [
            vars(said)
            | {"printed": vars(said.printed), "excess": said.excess and vars(said.excess)}
            | {"p_alike": None if isnan(said.p_alike) else said.p_alike}
            for said in one.statements
        ],
    }  # fmt: skip


COMMAND = reconcile
