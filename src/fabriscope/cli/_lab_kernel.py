"""`fabriscope lab kernel`: the kernel of the lab's guests."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import click

from fabriscope.cli import _loudness, _usage


@click.group(cls=_usage.Group, name="kernel")
def kernel() -> None:
    """Build the kernel that guests of the lab boot, and say which there are."""


@kernel.command(name="build")
@click.option(
    "--source",
    type=_usage.PATH,
    metavar="PATH",
    help="A source tree of Linux, or a tarball of one  [default: Debian's linux-source-6.1]",
)
@click.option("--jobs", type=_usage.Count(1), help="Files compiled at once  [default: one for each processor]")
def build(source: Path | None, jobs: int | None) -> None:
    """Build it, in about four minutes on two cores, or say that it is in the cache already.

    Needs 3 GB of disk while it builds, and keeps 9 MB. The exit code is 7 where a program is missing.
    """
    from fabriscope.lab import guest_kernel

    started = time.monotonic()

    def notice(text: str) -> None:
        _loudness.remark(f"[{time.monotonic() - started:5.0f} s] {text}")

    built = guest_kernel.build(source, jobs or len(os.sched_getaffinity(0)), notice)
    click.echo(f"{built.path}  Linux {built.version}, from {built.source}")


@kernel.command(name="status")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(as_json: bool) -> None:
    """List the kernels in the cache, and say which one guests boot."""
    from dataclasses import asdict

    from fabriscope.lab import guest_kernel
    from fabriscope.model.errors import ToolMissing

    kept = guest_kernel.kept_kernels()
    try:
        used: Path | None = guest_kernel.find()
        problem = None
    except ToolMissing as error:
        used, problem = None, str(error)
    if as_json:
        listed = [{**asdict(one), "path": str(one.path)} for one in kept]
        click.echo(json.dumps({"used": str(used) if used else None, "problem": problem, "kept": listed}, indent=1))
        return
    for one in kept:
        built = time.strftime("%Y-%m-%d %H:%M", time.localtime(one.built_unix_s))
        old = "" if one.recipe == guest_kernel.recipe() else ", by another recipe than today's"
        click.echo(f"{one.path}  Linux {one.version}, from {one.source}, built {built}{old}")
    click.echo(f"guests boot {used}" if used else problem)
