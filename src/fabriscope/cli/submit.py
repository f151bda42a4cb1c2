"""`fabriscope submit`: let a batch scheduler run a plan."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from fabriscope.cli import _loudness, _streams, _usage

if TYPE_CHECKING:
    from fabriscope.cli._submission import Record
    from fabriscope.launch.batch import Submission
    from fabriscope.plan import Plan
    from fabriscope.plan.place_schema import SubmitSection

LEAST_DURATION_S = 600
_EXIT_INTERRUPTED = 130


@click.command(name="submit")
@click.argument("plan", required=False, type=_usage.PATH)
@click.option("-o", "--output", type=_usage.PATH, help="Run folder [default: runs/NAME-TIME].")
@click.option("--resume", type=_usage.PATH, metavar="RUN", help="Go on with this run in a new job.")
@click.option("--status", type=_usage.PATH, metavar="RUN", help="Say how the job of this run is.")
@click.option("--wait", is_flag=True, help="Tell of the job and the run until both have ended.")
@click.option(
    "--scheduler", type=click.Choice(("slurm", "pbs", "lsf", "flux", "local")), help="[default: the one here]"
)
@click.option("-N", "--nodes", type=_usage.Count(1, 4096), help="Hosts to ask for.")
@click.option("--cores-per-node", type=_usage.Count(1), help="Cores of each host, where whole hosts are not given.")
@click.option("-q", "--queue", help="Queue or partition.")
@click.option("-A", "--account", help="Whom the job is charged to.")
@click.option("-t", "--duration", help="The job's time limit, e.g. 30min or 2h [default: what the plan needs].")
@click.option("--attribute", "attributes", multiple=True, metavar="KEY=VALUE", help="Further option of the scheduler.")
def COMMAND(  # noqa: N802 - the registry's constant
    plan: Path | None, output: Path | None, resume: Path | None, status: Path | None, wait: bool, **given: object
) -> None:
    """Let a batch scheduler run PLAN, or go on with a run that its job did not end (--resume).

    The run folder must lie where the hosts of the job see it too; beside it, in RUN.job, lies what belongs to the job.
    Options win over the plan's section `submit`. Exit codes are those of `fabriscope run`, and 6 when the scheduler
    refuses or ends the job.
    """
    if sum(one is not None for one in (plan, resume, status)) != 1:
        raise click.UsageError("give a plan, or --resume RUN, or --status RUN")
    if status is not None:
        _tell(status.absolute(), wait=wait)
        return
    if resume is not None and output is not None:
        raise click.UsageError("--output belongs to a new run; a resumed one stays in its folder")
    submission, record = _submit(plan, output, resume, given)
    if not wait:
        click.echo(
            f"job {record.native_id} of {record.scheduler}; `fabriscope submit --status {record.run}` tells of it"
        )
        return
    _wait(submission, record)


def _submit(
    path: Path | None, output: Path | None, resume: Path | None, given: Mapping[str, object]
) -> tuple[Submission, Record]:
    from fabriscope import store
    from fabriscope.cli import _submission
    from fabriscope.launch import batch
    from fabriscope.model import search_paths

    source = path if path is not None else _source(resume)
    plan, wishes = _load(source, given, is_stored=path is None)
    run = (resume or output or Path("runs") / f"{plan.section.name}-{time.strftime('%Y%m%d-%H%M%S')}").absolute()
    begun = resume is not None and (run / store.PLAN_NAME).exists()
    if not begun:
        store.refuse_impossible(run)
    folder = _submission.job_folder(run)
    scheduler = wishes.scheduler or batch.installed_scheduler()
    batch.check_folders(scheduler, Path.cwd(), folder)
    folder.mkdir(parents=True, exist_ok=True)
    if not begun:
        for name, text in {**plan.companions, store.PLAN_NAME: plan.text}.items():
            (folder / name).write_text(text)
    words = ("--resume", str(run)) if begun else (str(folder / store.PLAN_NAME), "--output", str(run))
    attributes = dict(wishes.attributes)
    if begun and plan.wants_allocation and scheduler == "slurm":
        # A run is made on one set of hosts: the new job asks for those of the first.
        attributes.setdefault("nodelist", _nodes_of(run))
    job = batch.BatchJob(
        argv=(*search_paths.python_argv("-m", "fabriscope", "run"), *words),
        folder=Path.cwd(),
        output=_submission.output_path(run),
        name=plan.section.name,
        node_count=wishes.nodes or (len(plan.hosts) if plan.wants_allocation else 1),
        duration_s=math.ceil((wishes.duration or 0) / 1e9) or _expected_s(plan),
        cores_per_node=wishes.cores_per_node,
        queue=wishes.queue,
        account=wishes.account,
        attributes=attributes,
    )
    submission = batch.submit(scheduler, job, folder)
    record = _submission.Record(scheduler, submission.native_id, str(run), job.duration_s, time.time_ns())
    _submission.remember(record)
    return submission, record


def _nodes_of(run: Path) -> str:
    """Return the hosts of a run as a list for the scheduler; raises HostError: a run may be anybody's."""
    from fabriscope import store
    from fabriscope.model.host_lists import unfolded

    return ",".join(unfolded(",".join(store.open_run(run).manifest.hosts), groups=False))


def _source(resume: Path | None) -> Path:
    """Return the plan of a run that is to go on: its own, or the one that its first job was handed in with."""
    from fabriscope import store
    from fabriscope.cli import _submission

    assert resume is not None  # noqa: S101 - checked by the command
    own = resume / store.PLAN_NAME
    if own.exists():
        return own
    _submission.recall(resume.absolute())
    return _submission.job_folder(resume.absolute()) / store.PLAN_NAME


def _load(path: Path, given: Mapping[str, object], *, is_stored: bool) -> tuple[Plan, SubmitSection]:
    """Return the checked plan, which may be stored in a run, and what to ask for: the options, else its section."""
    from pydantic import ValidationError

    from fabriscope import plan as plans
    from fabriscope.model import units
    from fabriscope.model.errors import PlanError
    from fabriscope.plan import mistakes
    from fabriscope.plan.place_schema import SubmitSection
    from fabriscope.running.vocabulary import vocabulary

    options = {key: value for key, value in given.items() if value is not None and key != "attributes"}
    attributes = given["attributes"]
    assert isinstance(attributes, tuple)  # noqa: S101 - click's
    pairs = [pair.partition("=")[::2] for pair in attributes]
    if any(not key or not value for key, value in pairs) or len(dict(pairs)) < len(pairs):
        raise click.UsageError("--attribute takes KEY=VALUE, each key once")
    words = dataclasses.replace(vocabulary(), allocation=None)
    if isinstance(nodes := options.get("nodes"), int):
        words = dataclasses.replace(words, allocation=plans.hosts_to_come(nodes))
    with units.old_spellings() if is_stored else contextlib.nullcontext():
        plan = plans.load(path, words)
    if plan.wants_allocation and words.allocation is None and plan.section.submit.nodes is None:
        what = f"{plan.section.hosts!r} means the hosts of a batch job, and nobody says of how many"
        raise PlanError(what, where=plan.where("hosts"), fix="write `submit: {nodes: 2}`, or `--nodes 2` here")
    plans.refuse_others(plan)
    planned = plan.section.submit
    try:
        chosen = SubmitSection.model_validate({**options, "attributes": dict(pairs)}).model_dump(exclude_unset=True)
    except ValidationError as error:
        what, fix = mistakes.described(error.errors()[0])
        raise click.UsageError(f"{what} -- {fix}" if fix else what) from error
    return plan, planned.model_copy(update={**chosen, "attributes": {**planned.attributes, **chosen["attributes"]}})


def _expected_s(plan: Plan) -> int:
    """Return a time limit for the plan: twice what it is expected to take, and ten minutes."""
    from fabriscope.running.planned import planned

    return LEAST_DURATION_S + 60 * math.ceil(2 * planned(plan).most_ns / 60e9)


def _tell(run: Path, *, wait: bool) -> None:
    """Say how the job of a run is, once or until it has ended."""
    from fabriscope.cli import _submission
    from fabriscope.launch import batch

    record = _submission.recall(run)
    submission = batch.attach(record.scheduler, record.native_id, _submission.job_folder(run))
    if wait:
        _wait(submission, record)
    status = batch.first_word(submission)
    if status.has_ended:
        _end(record, status)
    click.echo(f"job {record.native_id} of {record.scheduler}: {status.state}, {_submission.progress(run)}")


def _wait(submission: Submission, record: Record) -> None:
    from fabriscope.cli import _submission

    click.echo(f"job {record.native_id} of {record.scheduler}, run folder {record.run}")
    try:
        status = _submission.wait(Path(record.run), submission, _streams.say)
    except KeyboardInterrupt:
        _loudness.remark(f"the job goes on; `fabriscope submit --status {record.run} --wait` tells of it")
        raise SystemExit(_EXIT_INTERRUPTED) from None
    _end(record, status)


def _end(record: Record, status: object) -> None:
    """Say how it ended, and end likewise; raises LaunchError where the run is not complete."""
    from fabriscope.cli import _submission
    from fabriscope.launch.batch import JobStatus

    assert isinstance(status, JobStatus)  # noqa: S101 - lazily imported type
    exit_code = _submission.conclude(record, status)
    click.echo(f"{_submission.progress(Path(record.run))}; `fabriscope report {record.run}` writes the report")
    raise SystemExit(exit_code)
