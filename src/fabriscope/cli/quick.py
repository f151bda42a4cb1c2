"""`fabriscope quick`: an answer without a plan."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fabriscope.cli import _measuring, _quick_plan, _usage


@click.command("quick")
@_quick_plan.options
@click.option("-o", "--output", type=_usage.PATH, help="Run folder [default: runs/quick-TIME].")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but the answer.")
def quick(output: Path | None, quiet: bool, **words: Any) -> None:
    """Compare FABRICs, each an interface that the hosts have (or NAME=INTERFACE), and say which leads where.

    \b
    fabriscope quick                                             this machine: TCP and shared memory
    fabriscope quick eth0 ib0 --hosts node1,node2                two networks of two hosts
    fabriscope quick eth0 ib0 --hosts node[1-4] --mpi openmpi --rdma ib0=ib --for 5min
    fabriscope quick gige ethernet-100 --lab                     two fabrics built here

    It prints the plan that it makes; `fabriscope init` writes it to a file instead. Exit codes are those of `run`.
    """
    from fabriscope import store
    from fabriscope.reports import terminal
    from fabriscope.running.evaluation import evaluating

    plan = _quick_plan.text("quick", **words)
    summary = _measuring.measure("quick", plan, output, quiet=quiet, shows_plan=not quiet)
    with evaluating(summary.path):
        terminal.show(store.open_run(summary.path).read())
    click.echo(f"\nkept in {summary.path}; `fabriscope report {summary.path}` writes the report")
    _measuring.refuse_failed(summary)


COMMAND = quick
