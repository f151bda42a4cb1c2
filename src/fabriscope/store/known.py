"""Does a line of the journal belong to the run? By the names and numbers that the manifest, and the lines before, gave.

A line may be well made, and sealed, and still be of a launch that was never planned, or count a launch twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from fabriscope.model.foreign import shown
from fabriscope.model.manifest import Manifest
from fabriscope.model.record import AddedLaunches, LaunchRecord
from fabriscope.model.record import Line as Record
from fabriscope.model.run_data import IDLE_COUNTERS
from fabriscope.store.files import COUNTERS_NAME, SAMPLES_NAME


class Known:
    """What the manifest, and the lines so far, have given a name or a number."""

    def __init__(self, manifest: Manifest) -> None:
        self._entries = dict(manifest.entries)
        self._cases = set(manifest.cases)
        self._launches = {launch.launch_id: launch for launch in manifest.schedule}
        self._lines: dict[tuple[int, int], int] = {}

    def take(self, record: Record, number: int) -> None:
        """Know what the line of a number adds."""
        if isinstance(record, AddedLaunches):
            self._cases.update(record.cases)
            self._entries.update(record.entries)
            self._launches.update((launch.launch_id, launch) for launch in record.schedule)
        else:
            self._lines[record.launch_id, record.attempt] = number

    def stranger(self, record: Record, number: int) -> str:
        """Return what in the line of a number stands for nothing, or is another's already; nothing if all is right."""
        wrong = self._in_added(record) if isinstance(record, AddedLaunches) else self._in_launch(record, number)
        return next(wrong, "")

    def _in_added(self, record: AddedLaunches) -> Iterator[str]:
        entries = {*self._entries, *record.entries}
        yield from self._unknown((launch.entry_id for launch in record.schedule), entries, "entry")
        known = {*self._cases, *record.cases}
        yield from self._unknown((case_id for launch in record.schedule for case_id in launch.case_ids), known, "case")
        numbers = [launch.launch_id for launch in record.schedule]
        counts = Counter([*numbers, *(number for number in set(numbers) if number in self._launches)])
        number, count = counts.most_common(1)[0] if counts else (0, 0)
        if count > 1:
            yield f"launch {number} is scheduled twice"

    def _in_launch(self, record: LaunchRecord, number: int) -> Iterator[str]:
        yield from self._unknown([record.entry_id] if record.entry_id else [], self._entries, "entry")
        yield from self._unknown(record.results, self._cases, "case")
        planned = self._launches.get(record.launch_id)
        if planned is not None:
            for name, stated, meant in (
                ("block", record.block, planned.block),
                ("entry_id", record.entry_id, planned.entry_id),
            ):
                if stated != meant:
                    yield f"its {name} is {shown(stated)}, and was planned as {shown(meant)}"
            yield from self._unknown(record.results, set(planned.case_ids), "case", " in this launch")
        elif self._launches:
            yield f"launch {record.launch_id} was not planned"
        before = self._lines.get((record.launch_id, record.attempt))
        if before is not None:
            yield f"line {before} is of launch {record.launch_id}, attempt {record.attempt}, too"
        if record.attempt > number:
            yield f"it is attempt {record.attempt}, and no more than {number} lines were written"
        yield from self._in_names(record)
        yield from self._in_details(record)

    def _in_names(self, record: LaunchRecord) -> Iterator[str]:
        for field, stated, meant in (
            ("samples", record.samples, f"{SAMPLES_NAME}/{record.name}.parquet"),
            ("counters", record.counters, f"{COUNTERS_NAME}/{record.name}.json.gz"),
            ("idle_counters", record.idle_counters, IDLE_COUNTERS),
        ):
            if stated not in (None, meant):
                yield f"its {field} are said to be {shown(stated)}, and must be {meant}"

    def _in_details(self, record: LaunchRecord) -> Iterator[str]:
        """Yield what the instrument says of cases and ranks that the launch does not have."""
        details, entry = record.details, self._entries.get(record.entry_id)
        for case_id, account in details.groups.items():
            last_count = sum((account.slowest_ranks or {}).values())
            if account.operation_count is not None and last_count > account.operation_count:
                of_all = f"{last_count} of {account.operation_count} operations"
                yield f"in case {shown(case_id)} ranks finished last in {of_all}"
        of_profiles = (*details.profiles, *details.profile_problems)
        of_cases = (*details.groups, *of_profiles, *details.hung_case_ids)
        yield from self._unknown(of_cases, self._cases, "case")
        if entry is None:
            return
        ranks = {rank for pair in details.sent_payload_bytes or () for rank in pair}
        ranks.update(rank for account in details.groups.values() for rank in account.slowest_ranks or ())
        yield from (f"there is no rank {rank} in {record.entry_id}" for rank in ranks if rank >= len(entry.hosts))

    @staticmethod
    def _unknown(names: Iterable[str], known: Iterable[str], what: str, where: str = "") -> Iterator[str]:
        known = known if isinstance(known, dict | set) else set(known)
        yield from (f"there is no {what} {shown(name)}{where}" for name in names if name not in known)
