"""Verifying a run: is its folder as it was written, and are its reports what its samples give?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl

from fabriscope import store
from fabriscope.adapters.base import Adapter
from fabriscope.analysis.values.consistency import contradictions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.counting import counted
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.finding import Account, Finding
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.model.record import LaunchRecord
from fabriscope.model.run_data import RunData
from fabriscope.registry import discover
from fabriscope.reports.again import check_reports
from fabriscope.store import inside, samples
from fabriscope.store.checks import MOST_RAW_BYTES, check_folder
from fabriscope.store.journal import JOURNAL_NAME

REPORT_FOLDER = "report"
MOST_ATTEMPTS = 4


BROKEN = (
    FabriscopeError, pl.exceptions.PolarsError, pl.exceptions.PanicException, LookupError, TypeError, ValueError,
    AttributeError, ArithmeticError, OSError, RecursionError,
)  # fmt: skip
"""What reading a folder may end with that nobody of ours has written."""


def verify(path: Path, report: Path | None = None, digest: str | None = None) -> Account:
    """Return what is wrong with a run and its reports (those in RUN/report, unless one is named).

    With a `digest` that was published, the run must be the one that it was taken of.
    Everything is read, nothing is written. What rests on a file that is not as it was is not compared. Raises
    StoreError where there is no folder.
    """
    store.refuse_odd_path(path)
    if not path.is_dir():
        store.open_run(path)
    account = check_folder(path)
    if account.findings:
        return account + Account(notes=("what rests on this folder (values, reports) was not compared",))
    try:
        folder = store.open_run(path)
        run = folder.read()
        account += Account(tuple(Finding(str(path), "", note) for note in run.notes))
        account += Account(tuple(contradictions(run)), checked=("manifest, journal and samples against each other",))
        account += against_raw(run)
        if digest is not None:
            account += against_digest(run, digest)
        place = report or path / REPORT_FOLDER
        if account.findings or (report is None and not place.is_dir()):
            return account
        found = check_reports(run, place, folder.read)
        if report is not None and not (found.findings or found.checked):  # it must not pass for one that is right
            what = "this is no report that can be compared: name its .html, .md or .csv file, or the folder of them"
            found += Account((Finding(str(place), "", what),))
        return account + found
    except FabriscopeError as error:
        return account + Account((Finding(str(path), "", str(error)),))
    except BROKEN as error:
        what = f"the manifest, the journal or a sample is not what it must be: {type(error).__name__}: {error}"
        return account + Account((Finding(str(path), "", what),))


def against_digest(run: RunData, digest: str) -> Account:
    """Compare a run that is as it was written with the digest that a report of it states."""
    chains = [line.chain for line in run.lines]
    count = len(chains)
    if digest in chains[-1:]:
        return Account(checked=("the digest of the whole run with the one that was published",))
    if digest in chains:
        first = chains.index(digest) + 1
        note = f"the digest was published after {first} of now {count} lines of the journal: the rest came later"
        checked = f"the digest of the first {counted(first, 'line')} with the published one"
        return Account(notes=(note,), checked=(checked,))
    what = f"no line has the digest {digest[:80]}: this is not the run of which it was published"
    return Account((Finding(JOURNAL_NAME, "", what),))


def against_raw(run: RunData) -> Account:
    """Read what the processes said once more, and compare it with the samples that are stored."""
    findings: list[Finding] = []
    silent: list[int] = []
    large: list[int] = []
    count = 0
    launches = {launch.launch_id: launch for launch in run.manifest.launches}
    adapters = discover("adapters", "ADAPTER").plugins
    for record in run.journal:
        launch = launches.get(record.launch_id)
        adapter = adapters.get(launch.entry.instrument) if launch else None
        if launch is None or adapter is None or not record.samples:
            continue
        outcomes = _outcomes(Path(run.path), record)
        if outcomes is None:
            large.append(launch.launch_id)
            continue
        stored = samples.decode(inside.read_bytes(Path(run.path), record.samples))
        again = [samples.frame_of(launch.launch_id, launch.block, one) for one in _parsed(adapter, launch, outcomes)]
        again = [frame.select(stored.columns) for frame in again if frame.height]
        if not again:
            silent.append(launch.launch_id)
            continue
        count += 1
        if not any(frame.equals(stored) for frame in again):
            findings.append(_first_difference(record.samples, stored, again[0]))
    notes = [f"the raw output of {counted(len(silent), 'launch')} gives no samples to compare with"] if silent else []
    if large:
        of_large = counted(len(large), "launch")
        notes.append(f"the raw output of {of_large} unpacks to more than {MOST_RAW_BYTES} bytes: not compared")
    checked = (f"the samples of {counted(count, 'launch')} against the raw output",) if count else ()
    return Account(tuple(findings), tuple(notes), checked)


def _parsed(adapter: Adapter, launch: Launch, outcomes: Sequence[Outcome]) -> Iterator[list[SampleBlock]]:
    """Yield the samples of a launch, for every number of attempts that it may have taken."""
    for attempts in range(1, MOST_ATTEMPTS + 1):
        size, rest = divmod(len(outcomes), attempts)
        if rest or not size:
            continue
        blocks: list[SampleBlock] = []
        try:
            for start in range(0, len(outcomes), size):
                blocks += adapter.parse(launch, outcomes[start : start + size]).blocks
        except (FabriscopeError, ValueError, KeyError, TypeError, IndexError, AttributeError):
            continue
        yield blocks


def _outcomes(folder: Path, record: LaunchRecord) -> list[Outcome] | None:
    """Return what the processes of a launch did, as far as it is stored; None where it is too large."""
    room = MOST_RAW_BYTES
    raw = folder / "raw" / record.name
    outcomes = []
    for number, process in enumerate(record.commands):
        streams: list[bytes] = []
        for stream in ("stdout", "stderr"):
            found = next(iter(raw.glob(f"{number}-*.{stream}.gz")), None)
            try:
                packed = inside.read_bytes(folder, found.relative_to(folder).as_posix()) if found else b""
                streams.append(inside.unpack(packed, room))
                room -= len(streams[-1])
            except inside.TooLarge:
                return None
            except (FabriscopeError, ValueError):
                streams.append(b"")
        command = Command(process.argv, process.host)
        began, lasted, late = process.started_unix_ns, process.elapsed_ns, process.timed_out
        outcomes.append(Outcome(command, process.exit_status, streams[0], streams[1], began, lasted, late))
    return outcomes


def _first_difference(file: str, stored: pl.DataFrame, again: pl.DataFrame) -> Finding:
    """Return where stored samples first differ from what the raw output says."""
    if stored.height != again.height:
        return Finding(file, "", f"it has {stored.height} rows, and the raw output gives {again.height}")
    for name in stored.columns:
        different = stored[name].ne_missing(again[name]).arg_true()
        if len(different):
            row = int(different[0])
            said, meant = stored[name][row], again[name][row]
            return Finding(file, f"row {row}, {name}", f"it says {said}, and the raw output {meant}")
    return Finding(file, "", "its columns are of other types than the raw output gives")
