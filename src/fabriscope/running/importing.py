"""Logs of others become a run folder: what differs between them makes entries, each run in a file a launch."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from fabriscope import store
from fabriscope.model.case import Case, Entry
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import Launch, SampleBlock
from fabriscope.model.record import ReadFrom
from fabriscope.readers import log
from fabriscope.readers.base import Document, Reader, Table
from fabriscope.registry import discover
from fabriscope.running import log_twins
from fabriscope.running.log_labels import (
    KEYS,
    LABELS_FILE,
    UNSTATED,
    Labels,
    check,
    fabrics_of,
    labels_of,
    rules_of,
    said_by,
    unmatched,
)
from fabriscope.running.log_values import LogValue, layer_of_table, of_table

MOST_FILES = 10_000
MOST_NUMBERS = 2_500
"""Of one log; each is a value of a case of its own in the run."""


@dataclass(frozen=True)
class Imported:
    """What came of an import."""

    path: Path
    file_count: int
    launch_count: int
    entry_labels: tuple[str, ...]
    left_out: tuple[str, ...]
    """Files, and parts of files, that are not in the run: a sentence each, as `all_named` has them too."""
    noted: tuple[str, ...]
    """What is in the run and may be a copy: a sentence each."""

    @property
    def all_named(self) -> Path:
        """Return the file of the run that names all that was left out."""
        return self.path / store.PLAN_NAME


@dataclass
class _Found:
    """One launch that a log tells of."""

    entry: Entry
    values: list[tuple[Case, LogValue]]
    origin: ReadFrom
    labels: Labels
    data: bytes = field(repr=False, default=b"")


def run(paths: Sequence[Path], output: Path, labels: Labels, labels_file: Path | None = None) -> Imported:
    """Read logs, and those of folders, into a new run folder; what cannot be read is left out and named.

    Raises ParseError if no log at all can be read, PlanError for labels, StoreError for the folder.
    """
    store.refuse_impossible(output, fix="choose another: nothing is added to an import")
    rules = rules_of(labels_file) if labels_file is not None else {}
    left_out: list[str] = []
    found: list[_Found] = []
    files = _files(paths)
    readers = discover("readers", "READER").plugins
    roots = {root for _, root in files}
    all_beside = {root: rules_of(root / LABELS_FILE) if (root / LABELS_FILE).is_file() else {} for root in roots}
    for path, root in files:
        beside = all_beside[root]
        own = {**labels_of(path, root, beside), **labels_of(path, root, rules), **labels}
        check(own, str(path))
        try:
            found += _read(path, own, readers, left_out)
        except ParseError as error:
            left_out.append(str(error))
    left_out += unmatched(
        files, {None: (labels_file, rules)} | {root: (root / LABELS_FILE, of) for root, of in all_beside.items()}
    )
    left_out += _leave_out_zeros(found)
    if not any(one.values for one in found):
        first = left_out[0] if left_out else f"no file is in {', '.join(map(str, paths))}"
        raise ParseError(f"no log could be read: {first}")
    noted = _leave_out_copies(found, left_out)
    return _write([one for one in found if one.values], output, len(files), labels, left_out, noted)


def _leave_out_zeros(found: Iterable[_Found]) -> list[str]:
    """Take what lies below what a program prints from launches, and what others of the same case have; say which.

    A case that has both is left out whole: the launches that print a number are those that were slow (or, of a rate,
    fast), and alone they would tell another median.
    """
    of_case: dict[tuple[str, str], list[tuple[Case, LogValue]]] = {}
    for one in found:
        for case, value in one.values:
            of_case.setdefault((case.case_id, value.metric_id), []).append((case, value))
    below = {key: sum(value.is_below for _, value in values) for key, values in of_case.items()}
    for one in found:
        one.values = [(case, value) for case, value in one.values if not below[case.case_id, value.metric_id]]
    told = []
    for key, count in below.items():
        values = of_case[key]
        if 0 < count < len(values):
            case, metric_id = values[0][0], key[1]
            told.append(
                f"{case.entry.label()}, {case.benchmark}, {metric_id} of {case.message_size_bytes} B: {count} of"
                f" {len(values)} launches have 0, which is below what the program prints, and the others alone would"
                " not be typical: none of them counts"
            )
    return told


def _leave_out_copies(found: list[_Found], left_out: list[str]) -> list[str]:
    """Empty launches, and parts of launches, that stand in the logs twice; return what may be such a copy."""
    texts: dict[str, bytes] = {}
    runs = Counter(one.origin.file for one in found)
    launches = []
    for one in found:
        file = one.origin.file
        text = texts.setdefault(file, one.data)
        place = f"{file}, run {one.origin.run}" if runs[file] > 1 else file
        launches.append((log_twins.Source(place, text), one.values))
    done = log_twins.untwinned(launches)
    for one, values in zip(found, done.values, strict=True):
        one.values = values
        one.data = texts.pop(one.origin.file, b"") if values else b""
    left_out += done.left_out
    return done.noted


def _files(paths: Iterable[Path]) -> list[tuple[Path, Path]]:
    """Return each file, and what else is no folder, with the folder that it was found below, in the order of names."""
    found: dict[Path, Path] = {}
    for path in paths:
        try:
            inside = sorted(one for one in path.rglob("*") if not one.is_dir()) if path.is_dir() else [path]
        except OSError as error:  # as folders so deep that no path leads there
            what = f"what is in it cannot be listed: {error.strerror or error}"
            raise ParseError(
                what, where=str(path), fix="name the files themselves, or a folder further down"
            ) from error
        root = path if path.is_dir() else path.parent
        for one in inside:
            if one.name not in (LABELS_FILE,) and not any(part.startswith(".") for part in one.relative_to(root).parts):
                found.setdefault(one, root)
    if len(found) > MOST_FILES:
        raise ParseError(f"{len(found)} files are more than {MOST_FILES}", where=str(next(iter(paths))))
    return list(found.items())


def _read(path: Path, labels: Labels, readers: Mapping[str, Reader], left_out: list[str]) -> list[_Found]:
    name = str(path)
    text = log.read_text(path, name)
    found: list[_Found] = []
    for document in log.documents(text, readers, name):
        problem = next((one for one in document.problems if one.kind in ("refused", "cut")), None)
        if problem is not None:
            left_out += [said] if (said := f"{name}, line {problem.line}: {problem.text}") not in left_out[-1:] else []
        if document.problem("refused") is None:
            found += _launches(document, path, labels, left_out)
            if (count := sum(len(one.values) for one in found)) > MOST_NUMBERS:
                raise ParseError(f"it has {count:,} numbers, and {MOST_NUMBERS:,} is the most of a log", where=name)
    for one in found[:1]:
        one.data = text.encode("utf-8", "replace")
    return found


def _launches(document: Document, path: Path, labels: Labels, left_out: list[str]) -> list[_Found]:
    """Return a launch for each time that the file has a test of an entry once more."""
    more = ", ".join(f"{name} {value}" for name, value in labels.items() if name not in KEYS)
    runs: list[tuple[Entry, dict[tuple[str, str], tuple[Case, LogValue]]]] = []
    unlike: dict[str, str] = {}
    for table in document.tables:
        if not table.rows:
            continue
        of = of_table(document, table, said_by(labels))
        left_out += [f"{path}: {what}" for what in of.left_out]
        if not of.values and not of.left_out:
            left_out.append(f"{path}, line {table.line}: {table.name} has no number whose unit is a metric's")
        if not of.values:
            continue
        entry, cases = _entry(document, table, labels), {}
        for one in of.values:
            series = ", ".join(part for part in (one.series, more) if part)
            case = Case(entry, one.benchmark, one.message_size_bytes, one.window_size, series, of.socket, of.parameters)
            if of.unlike:
                unlike[one.metric_id] = of.unlike
            cases[case.case_id, one.metric_id] = (case, one)
        known = next((known for whose, known in runs if whose == entry and not known.keys() & cases.keys()), None)
        if known is None:
            runs.append((entry, known := {}))
        known.update(cases)
    return [
        _Found(
            entry,
            list(values.values()),
            ReadFrom(str(path), document.program, document.version, number, _of(values.values(), unlike)),
            labels,
        )
        for number, (entry, values) in enumerate(runs, 1)
    ]


def _of(values: Iterable[tuple[Case, LogValue]], unlike: Mapping[str, str]) -> dict[str, str]:
    """Return why numbers are none of ours, of a launch's own."""
    return {value.metric_id: unlike[value.metric_id] for _, value in values if value.metric_id in unlike}


def _traps(found: _Found) -> dict[str, dict[str, list[str]]]:
    """Return the known traps of a launch's numbers: name to metric id to case ids."""
    traps: dict[str, dict[str, list[str]]] = {}
    for case, value in found.values:
        for name in value.traps:
            traps.setdefault(name, {}).setdefault(value.metric_id, []).append(case.case_id)
    return traps


def _entry(document: Document, table: Table, labels: Labels) -> Entry:
    hosts = tuple(labels["hosts"].split("+")) if "hosts" in labels else (UNSTATED, UNSTATED)
    layer = labels.get("layer") or layer_of_table(document, table)
    fabric = labels.get("fabric", UNSTATED)
    placement = labels.get("placement", UNSTATED)
    return Entry(layer, fabric, placement, hosts, labels.get("mpi"), document.program)


def _write(
    found: list[_Found], output: Path, file_count: int, labels: Labels, left_out: list[str], noted: list[str]
) -> Imported:
    counts: dict[str, int] = {}
    launches = []
    for number, one in enumerate(found, 1):
        cases = tuple({case.case_id: case for case, _ in one.values}.values())
        block = 1 + max(counts.get(case.case_id, 0) for case in cases)  # the next file of the same tests
        counts |= dict.fromkeys((case.case_id for case in cases), block)
        launches.append(Launch(number, block, one.entry, cases, 0, 0))
    name = output.resolve().name or "imported"
    about = {"description": "Read from logs; nothing of it was launched by fabriscope.", "imported": file_count}
    contents = store.describe((), launches, fabrics_of(one.labels for one in found), name=name, plan=about)
    origins = [asdict(one.origin) for one in found]
    text = json.dumps({"imported": origins, "labels": dict(labels), "left_out": left_out, "noted": noted}, indent=1)
    folder = store.create(output, contents, text + "\n")
    with folder.lock():
        for launch, one in zip(launches, found, strict=True):
            blocks = [
                SampleBlock(case.case_id, (value.value,), quantity=value.metric_id, burst=burst)
                for burst, (case, value) in enumerate(one.values)
            ]
            record = {
                "launch_id": launch.launch_id, "block": launch.block, "entry_id": launch.entry.entry_id, "status": "ok",
                "results": {case.case_id: {"status": "ok", "reason": None} for case in launch.cases},
                "commands": [], "started_unix_ns": 0, "elapsed_ns": 0,
                "details": {"read_from": asdict(one.origin), "traps": _traps(one)},
            }  # fmt: skip
            raw = [Outcome(Command(("log", one.origin.file), UNSTATED), 0, one.data, b"", 0, 0)] if one.data else []
            folder.append(record, blocks, raw)
        folder.end()
    entries = dict.fromkeys(one.entry.label() for one in found)
    return Imported(output, file_count, len(launches), tuple(entries), tuple(left_out), tuple(noted))
