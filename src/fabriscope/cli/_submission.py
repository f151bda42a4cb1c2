"""What is remembered of a submitted job, how it is watched, and how it ended.

Beside the run folder RUN lies RUN.job: `job.json`, the plan as it was handed in, the job's output, and PSI/J's files.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from fabriscope import store
from fabriscope.launch.batch import JobStatus, Submission
from fabriscope.model import plain_files
from fabriscope.model.errors import LaunchError, StoreError
from fabriscope.model.foreign import Foreign
from fabriscope.store.manifest import MANIFEST_NAME
from fabriscope.store.run_folder import RunFolder

EXIT_SOME_FAILED = 10
_LOOK_EVERY_S = 0.5
_RECORD_NAME = "job.json"
_NATIVE_ID = re.compile(r"\w[\w.\[\]-]{0,199}")
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Record:
    """One job that was handed in."""

    scheduler: str
    native_id: str
    run: str
    """Absolute path of the run folder."""
    duration_s: int
    submitted_unix_ns: int


def job_folder(run: Path) -> Path:
    """Return the folder beside a run folder that holds what belongs to its job."""
    return run.with_name(f"{run.name}.job")


def output_path(run: Path) -> Path:
    """Return the file that takes what the job's program prints."""
    return job_folder(run) / "output.txt"


def remember(record: Record) -> None:
    """Write the record down."""
    (job_folder(Path(record.run)) / _RECORD_NAME).write_text(json.dumps(asdict(record), indent=1) + "\n")


def recall(run: Path) -> Record:
    """Return the record of the last job of a run; raises StoreError if there is none."""
    path = job_folder(run) / _RECORD_NAME
    if not path.exists():
        raise StoreError("no job was submitted for this run", where=str(run))
    text = plain_files.text(path, _MOST_BYTES, error=StoreError, what="the job's record")
    record = Foreign.json(text, str(path), error=StoreError)
    native_id = record.at("native_id").text()
    if not _NATIVE_ID.fullmatch(native_id):  # it becomes a word of the scheduler's programs
        raise record.at("native_id").refuse("the id of a job")
    seconds, submitted = record.at("duration_s").whole(), record.at("submitted_unix_ns").whole()
    return Record(record.at("scheduler").text(), native_id, str(run), seconds, submitted)


class Watch:
    """Tells what has happened to a run since it was last asked."""

    def __init__(self, run: Path) -> None:
        self._run = run
        self._told: set[int] = set()

    def news(self) -> list[str]:
        """Return a line for every launch that has ended since."""
        folder = _folder(self._run)
        if folder is None:
            return []
        count = len(folder.manifest.schedule)
        lines = []
        for launch_id, record in folder.done().items():
            if launch_id in self._told:
                continue
            self._told.add(launch_id)
            entry = folder.manifest.entries[record.entry_id]
            bad = list(record.failures.values())
            failed = f": {len(bad)} of {len(record.results)} measurements failed: {bad[0]}" if bad else ""
            lines.append(f"launch {len(self._told)} of {count}: {entry.label()}, {entry.placement}{failed}")
        return lines


def wait(run: Path, submission: Submission, say: Callable[[str], object]) -> JobStatus:
    """Tell of the job and its run until the job has ended; returns how."""
    watch, told = Watch(run), ""
    of_job = f"job {submission.native_id}: "
    while True:
        status = submission.status()
        known = of_job + status.state + (f" ({status.message})" if status.state == "queued" and status.message else "")
        for line in ([known] if known != told else []) + watch.news():
            say(line)
        told = known
        if status.has_ended:
            return status
        time.sleep(_LOOK_EVERY_S)


def conclude(record: Record, status: JobStatus) -> int:
    """Return the exit code of a job whose run is complete: 0, or 10 if measurements failed.

    Raises LaunchError with what ended the job otherwise, and how to go on.
    """
    run = Path(record.run)
    folder = _folder(run)
    if folder is None:
        raise LaunchError(
            f"the job ended before the run began: {_last_words(run) or status.message or status.state}",
            where=f"job {record.native_id}",
            fix=f"its output is in {output_path(run)}",
        )
    done, count = folder.done().values(), len(folder.manifest.schedule)
    if len(done) == count and not folder.manifest.is_to_choose:
        has_failures = any(record.failures for record in done) or not any(record.ok_count for record in done)
        return EXIT_SOME_FAILED if has_failures else 0
    fix = f"`fabriscope submit --resume {run}` goes on"
    if status.is_out_of_time:
        how = f"was ended by its time limit of {_clock(record.duration_s)}"
        fix = f"`fabriscope submit --resume {run} --duration {2 * record.duration_s}s` goes on"
    elif status.state == "canceled":
        how = "was cancelled"
    else:
        how = f"ended: {status.message or _last_words(run) or status.state}:"
    raise LaunchError(f"job {record.native_id} {how} after {len(done)} of {count} launches", where=str(run), fix=fix)


def _folder(run: Path) -> RunFolder | None:
    """Return the run folder, None while it is not there."""
    try:
        return store.open_run(run)
    except StoreError:
        if (run / MANIFEST_NAME).exists():
            raise
        return None


def _last_words(run: Path) -> str:
    try:
        text = plain_files.text(output_path(run), _MOST_BYTES, error=StoreError, what="the job's output")
    except StoreError:
        return ""
    lines = text.splitlines()
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _clock(duration_s: int) -> str:
    minutes, seconds = divmod(duration_s, 60)
    return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"


def progress(run: Path) -> str:
    """Return how far a run is, in words."""
    folder = _folder(run)
    if folder is None:
        return "the run has not begun"
    return f"{len(folder.done())} of {len(folder.manifest.schedule)} launches in {run}"
