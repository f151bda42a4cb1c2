"""`fabriscope init`: write a plan to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fabriscope.cli import _measuring, _quick_plan, _usage


@click.command("init")
@_quick_plan.options
@click.option("-o", "--output", type=_usage.PATH, default="plan.yaml", show_default=True, help="The plan's file.")
def init(output: Path, **words: Any) -> None:
    """Write the plan that `fabriscope quick` would run with the same words: a beginning to edit.

    \b
    fabriscope init eth0 ib0 --hosts node[1-4] --mpi openmpi -o fabrics.yaml
    fabriscope plan check fabrics.yaml
    """
    from fabriscope import store
    from fabriscope.model.errors import StoreError

    store.refuse_part_of_run(output)
    text = _quick_plan.text(output.stem, **words)
    _measuring.check("init", text)
    try:
        with output.open("x") as file:
            file.write(text)
    except FileExistsError as error:
        raise StoreError("it exists already", where=str(output), fix="name another file with --output") from error
    except OSError as error:
        raise StoreError(f"cannot be written: {error.strerror}", where=str(output)) from error
    click.echo(f"{output}: docs/plan.md says what more it can have; `fabriscope run {output}` measures it")


COMMAND = init
