"""`fabriscope run`: measure a plan, or go on with a run that was interrupted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fabriscope.cli import _measuring, _usage
from fabriscope.model.counting import counted

if TYPE_CHECKING:
    from fabriscope.plan import Plan
    from fabriscope.progress import Progress
    from fabriscope.running.run import RunSummary

MOST_SENTENCES = 3
"""Of the answer, at the end."""
MOST_DOUBTS = 3
"""Of what may not be meant, at the beginning."""


@click.command(name="run")
@click.argument("plan", required=False, type=_usage.PATH)
@click.option("-o", "--output", type=_usage.PATH, help="Run folder [default: runs/NAME-TIME].")
@click.option("--resume", type=_usage.PATH, metavar="RUN", help="Go on with this run folder.")
@click.option("--keep-failed", is_flag=True, help="With --resume: do not make failed launches again.")
@click.option("--redo-damaged", is_flag=True, help="With --resume: make launches again whose files were damaged.")
@click.option("--launches", type=_usage.Launches(1), help="Process starts of every entry, in place of the plan's.")
@click.option("--budget", metavar="TIME", help="Measuring time (30s, 5min), in place of the plan's.")
@click.option("--only", multiple=True, metavar="WORD", help="Entries whose id holds WORD (gige.tcp); may be repeated.")
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
    **instead: Any,
) -> None:
    """Measure PLAN into a new run folder, or go on with an old one (--resume).

    Ctrl-C ends everything that was started; what was measured stays, and --resume goes on from there.
    It also makes launches again in which something failed, once each, on the hosts that are there.
    Exit code 10 means that measurements failed, or that there are none (the report lists them), 130 that you
    interrupted it.
    """
    values = {name: value for name, value in instead.items() if value not in (None, ())}
    _refuse_contradictions(
        plan, output, resume, values, **{"--keep-failed": keep_failed, "--redo-damaged": redo_damaged}
    )
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
            checked = _checked(plan, values, is_heard=not (quiet or as_json))
            summary = run.start(checked, output or _measuring.folder_for(checked.section.name), progress, cancel.event)
    except LaunchError as error:  # while an engine was compiled
        if cancel.signal_number is None:
            raise
        click.echo(f"fabriscope: {error}", err=True)
        raise SystemExit(_measuring.EXIT_AFTER_SIGNAL + cancel.signal_number) from None
    with contextlib.suppress(OSError):  # the terminal closed: the status still tells
        if quiet and not as_json:
            click.echo(summary.path)
        else:
            _say_end(summary, progress, has_words=not as_json)
    if cancel.signal_number is not None and not summary.is_complete:
        raise SystemExit(_measuring.EXIT_AFTER_SIGNAL + cancel.signal_number)
    _measuring.refuse_failed(summary)


def _checked(file: Path, values: Mapping[str, Any], *, is_heard: bool) -> Plan:
    """Return the plan with the values that the command line has in place of its own; say what may not be meant."""
    from fabriscope import plan as plans
    from fabriscope.running.vocabulary import vocabulary

    checked = plans.load(file, vocabulary(), values)
    _say_doubts(file, checked, is_heard=is_heard)
    return checked


def _say_doubts(file: Path, plan: Plan, *, is_heard: bool) -> None:
    """Say on standard error what `plan check` asks to look at again, the first few sentences."""
    from fabriscope.cli import _doubts, _loudness
    from fabriscope.model.errors import printable

    every = _doubts.of_plan(plan) if is_heard else []
    for sentence in every[:MOST_DOUBTS]:
        _loudness.remark(f"look again: {printable(sentence)}")
    if len(every) > MOST_DOUBTS:
        _loudness.remark(f"{len(every) - MOST_DOUBTS} more: `fabriscope plan check {file}`")


def _refuse_contradictions(
    plan: Path | None, output: Path | None, resume: Path | None, values: Iterable[str], **of_resuming: bool
) -> None:
    """Raise UsageError for words that do not go together."""
    if (plan is None) == (resume is None):
        raise click.UsageError("give a plan, or --resume RUN")
    if resume is not None and output is not None:
        raise click.UsageError("--output belongs to a new run; a resumed one stays in its folder")
    for name in values if resume is not None else ():
        raise click.UsageError(f"--{name} belongs to a new run; a resumed one goes on as it was begun")
    for name, is_given in of_resuming.items():
        if is_given and resume is None:
            raise click.UsageError(f"{name} belongs to --resume")


def _say_end(summary: RunSummary, progress: Progress, *, has_words: bool) -> None:
    """Say what came of it: the first sentences of the answer, what to do next, the folder last."""
    answer = _answer(summary) if summary.is_complete else []
    progress.end(str(summary.path), summary.launch_count, summary.failed_cases, answer, is_complete=summary.is_complete)
    if not has_words:
        return
    if not summary.is_complete:
        resume = f"`fabriscope run --resume {summary.path}` goes on"
        click.echo(f"interrupted after {counted(summary.launch_count, 'launch')}; {resume}")
        return
    for sentence in answer:
        click.echo(f"- {sentence}")
    if summary.failed_cases:
        click.echo(_measuring.failed_sentence(summary))
    elif summary.is_empty:
        click.echo("nothing was measured: change the plan; the report lists what was left out, with its reason")
    click.echo(f"{counted(summary.launch_count, 'launch')}; `fabriscope report {summary.path}` writes the report")
    click.echo(summary.path)


def _answer(summary: RunSummary) -> list[str]:
    from fabriscope import store
    from fabriscope.analysis.results import results_of
    from fabriscope.model.errors import FabriscopeError, printable
    from fabriscope.running.evaluation import evaluating

    try:
        with evaluating(summary.path):
            results = results_of(store.open_run(summary.path).read())
            always = [results.refused] if results.refused else []
            told = dict.fromkeys([*results.answer[:MOST_SENTENCES], *always])
    except FabriscopeError as error:  # what was measured stays measured
        return [str(error)]
    return [printable(sentence) for sentence in told]
