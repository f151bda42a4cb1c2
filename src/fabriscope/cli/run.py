"""`fabriscope run`: measure a plan, or go on with a run that was interrupted."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from fabriscope.cli import _measuring, _usage

EXIT_SOME_FAILED = 10


@click.command(name="run")
@click.argument("plan", required=False, type=_usage.PATH)
@click.option("-o", "--output", type=_usage.PATH, help="Run folder [default: runs/NAME-TIME].")
@click.option("--resume", type=_usage.PATH, metavar="RUN", help="Go on with this run folder.")
@click.option("--keep-failed", is_flag=True, help="With --resume: do not make failed launches again.")
@click.option("--redo-damaged", is_flag=True, help="With --resume: make launches again whose files were damaged.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but the run folder at the end.")
@click.option("--json", "as_json", is_flag=True, help="Say what happens as JSON lines.")
def COMMAND(  # noqa: N802 - the registry's constant
    plan: Path | None,
    output: Path | None,
    resume: Path | None,
    keep_failed: bool,
    redo_damaged: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Measure PLAN into a new run folder, or go on with an old one (--resume).

    Ctrl-C ends everything that was started; what was measured stays, and --resume goes on from there.
    It also makes launches again in which something failed, once each, on the hosts that are there.
    Exit code 10 means that some measurements failed (the report lists them), 130 that you interrupted it.
    """
    if (plan is None) == (resume is None):
        raise click.UsageError("give a plan, or --resume RUN")
    if resume is not None and output is not None:
        raise click.UsageError("--output belongs to a new run; a resumed one stays in its folder")
    for name, is_given in (("--keep-failed", keep_failed), ("--redo-damaged", redo_damaged)):
        if is_given and resume is None:
            raise click.UsageError(f"{name} belongs to --resume")
    from fabriscope import plan as plans
    from fabriscope.model.errors import LaunchError
    from fabriscope.progress import JsonProgress, QuietProgress, TerminalProgress, Unheard
    from fabriscope.running import run

    progress = Unheard(JsonProgress() if as_json else QuietProgress() if quiet else TerminalProgress())
    cancel = _measuring.Cancel()
    try:
        if resume is not None:
            summary = run.resume(resume, progress, cancel.event, keep_failed=keep_failed, redo_damaged=redo_damaged)
        else:
            assert plan is not None  # noqa: S101 - checked above
            checked = plans.load(plan, run.vocabulary())
            folder = output or _measuring.folder_for(checked.section.name)
            summary = run.start(checked, folder, progress, cancel.event)
    except LaunchError as error:  # while an engine was compiled
        if cancel.signal_number is None:
            raise
        click.echo(f"fabriscope: {error}", err=True)
        raise SystemExit(_measuring.EXIT_AFTER_SIGNAL + cancel.signal_number) from None
    if not as_json:
        with contextlib.suppress(OSError):  # the terminal closed: the status still tells
            _say_end(summary, quiet)
    if cancel.signal_number is not None and not summary.is_complete:
        raise SystemExit(_measuring.EXIT_AFTER_SIGNAL + cancel.signal_number)
    if summary.failed_cases:
        raise SystemExit(EXIT_SOME_FAILED)


def _say_end(summary: object, quiet: bool) -> None:
    from fabriscope.running.run import RunSummary

    assert isinstance(summary, RunSummary)  # noqa: S101 - lazily imported type
    if quiet:
        click.echo(summary.path)
    elif not summary.is_complete:
        click.echo(
            f"interrupted after {summary.launch_count} launches; `fabriscope run --resume {summary.path}` goes on"
        )
    else:
        click.echo(
            f"{summary.launch_count} launches in {summary.path}; `fabriscope report {summary.path}` writes the report"
        )
        if summary.failed_cases:
            click.echo(
                f"{summary.failed_cases} measurements failed; the report lists them with their reasons, and "
                f"`fabriscope run --resume {summary.path}` tries them again"
            )
