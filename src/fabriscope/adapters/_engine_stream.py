"""The engine's stream of JSON lines, read record by record (`docs/engine-output.md`)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from fabriscope.model.errors import ParseError
from fabriscope.model.measurement import RANK_OPERATION, RANK_START, SampleBlock

FORMAT = "fabriscope-engine"
NEWEST_VERSION = 1

PHASES = {"warmup": "warmup", "measured": "measure"}
"""The engine's word for a phase, and ours."""

_NOTES_KEPT = 20


@dataclass
class GroupAccount:
    """What the engine said of one case whose operations several ranks make, beside the samples."""

    timing: str
    operation_count: int = 0
    """Measured operations that count."""
    late_operation_count: int = 0
    """Those that were left out because a rank began them late."""
    clock_error_ns: int | None = None
    """The most by which the common clock may have been wrong; None where another timing needs no common clock."""
    slowest_ranks: Counter[int] = field(default_factory=Counter)
    """Rank to the number of operations that it was the last to finish."""
    said: dict[str, Any] = field(default_factory=dict)
    """What the benchmark itself told, of the last burst: for the overlap `pure_ns` and `compute_ns`."""

    def add(self, record: Mapping[str, Any]) -> None:
        """Take a measured block's account."""
        self.operation_count += len(record["durations_ns"]) * int(record["operations_per_sample"])
        self.late_operation_count += int(record.get("late_operation_count", 0))
        if "clock_error_ns" in record:
            self.clock_error_ns = max(self.clock_error_ns or 0, int(record["clock_error_ns"]))
        self.slowest_ranks.update(int(rank) for rank in record.get("slowest_ranks", ()))
        self.said |= record.get("details", {})

    def plain(self) -> dict[str, Any]:
        """Return it for the store."""
        return {
            "timing": self.timing,
            "operation_count": self.operation_count,
            "late_operation_count": self.late_operation_count,
            "clock_error_ns": self.clock_error_ns,
            "slowest_ranks": {str(rank): count for rank, count in sorted(self.slowest_ranks.items())},
            **self.said,
        }


@dataclass
class Stream:
    """What rank 0 wrote, line by line."""

    header: Mapping[str, Any] | None = None
    footer: Mapping[str, Any] | None = None
    endpoints: list[Mapping[str, Any]] = field(default_factory=list)
    blocks: list[SampleBlock] = field(default_factory=list)
    case_failures: dict[str, str] = field(default_factory=dict)
    launch_failures: list[str] = field(default_factory=list)
    last_failed_case_id: str | None = None
    groups: dict[str, GroupAccount] = field(default_factory=dict)
    """Case id to the account of its measured operations, where several ranks make them."""
    clock_models: list[Mapping[str, Any]] = field(default_factory=list)
    """How the ranks' clocks ran against rank 0's."""
    notes: list[str] = field(default_factory=list)
    """Lines of others: MPI libraries print to standard output too."""
    is_torn: bool = False
    """The last line ends in its middle."""

    def details(self) -> dict[str, object]:
        """Return what the engine said of itself, for the store."""
        found: dict[str, object] = {
            "header": dict(self.header) if self.header else None,
            "endpoints": [dict(endpoint) for endpoint in self.endpoints],
            "footer": dict(self.footer) if self.footer else None,
            "notes": self.notes[:_NOTES_KEPT],
            "is_torn": self.is_torn,
        }
        for name in ("sent_payload_bytes", "sent_messages"):
            if self.footer and name in self.footer:
                found[name] = self.footer[name]
        if self.groups:
            found["groups"] = {case_id: account.plain() for case_id, account in self.groups.items()}
        if self.clock_models:
            found["clock_models"] = [dict(model) for model in self.clock_models]
        return found


def read_stream(stdout: bytes, case_ids: set[str]) -> Stream:
    """Return the engine's stream; raises ParseError for a newer version or a record of an unexpected shape."""
    stream = Stream()
    for line_number, record in _records(stdout, stream):
        try:
            _take(record, stream, case_ids)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise ParseError(
                f"a record {str(record.get('type'))!r} of unexpected shape: {type(error).__name__}: {error}",
                where=f"engine output, line {line_number}",
            ) from error
    return stream


def _records(stdout: bytes, stream: Stream) -> Iterator[tuple[int, dict[str, Any]]]:
    lines = stdout.split(b"\n")
    for line_number, line in enumerate(lines, start=1):
        text = line.decode("utf-8", "replace")
        # A library's half line may stand before a record, where it wrote no line end of its own.
        start = text.find('{"type":')
        try:
            record = json.JSONDecoder().raw_decode(text, start)[0] if start >= 0 else None
        except json.JSONDecodeError:
            record = None
        if record is None and text and line_number == len(lines):
            stream.is_torn = True
        if start > 0 or (record is None and text.strip()):
            stream.notes.append(text[:start] if record is not None else text)
        if record is not None:
            yield line_number, record


def _take(record: dict[str, Any], stream: Stream, case_ids: set[str]) -> None:
    kind = record["type"]
    if kind == "header":
        _check_version(record)
        stream.header = record
    elif kind == "block":
        stream.blocks.append(_block(record, case_ids))
        if "timing" in record and record["phase"] == "measured":
            stream.groups.setdefault(record["case"], GroupAccount(record["timing"])).add(record)
    elif kind == "rank_block":
        stream.blocks += _rank_blocks(record, stream.blocks[-1], case_ids)
    elif kind == "clock_model":
        stream.clock_models.append({name: value for name, value in record.items() if name != "type"})
    elif kind == "failure":
        _take_failure(stream, record.get("case"), str(record["reason"]), case_ids)
    elif kind == "verification":
        if not record["ok"]:
            reason = record.get("reason", "what arrived is not what was sent")
            _take_failure(stream, record["case"], f"payload verification failed: {reason}", case_ids)
    elif kind == "endpoint":
        stream.endpoints.append(record)
    elif kind == "footer":
        stream.footer = record


def _check_version(record: Mapping[str, Any]) -> None:
    if record["format"] != FORMAT:
        raise ValueError(f"the format is {record['format']!r}, not {FORMAT!r}")
    if record["version"] > NEWEST_VERSION:
        raise ParseError(
            f"the engine speaks version {record['version']}, and we read up to {NEWEST_VERSION}",
            where="engine output",
            fix="use the engine that came with this fabriscope",
        )


def _block(record: Mapping[str, Any], case_ids: set[str]) -> SampleBlock:
    return SampleBlock(
        case_id=_case_of(record, case_ids),
        values=_durations(record, "durations_ns"),
        operations_per_sample=int(record["operations_per_sample"]),
        start_ns=int(record["start_ns"]),
        **_place_of(record),
    )


def _rank_blocks(record: Mapping[str, Any], of: SampleBlock, case_ids: set[str]) -> Iterator[SampleBlock]:
    """Yield the share of one rank in the burst of the block before: when it began, and how long it was inside."""
    for member, quantity in (("start_offsets_ns", RANK_START), ("durations_ns", RANK_OPERATION)):
        if member in record:
            yield SampleBlock(
                case_id=_case_of(record, case_ids),
                values=_durations(record, member),
                quantity=quantity,
                operations_per_sample=of.operations_per_sample,
                start_ns=of.start_ns,
                rank=int(record["rank"]),
                **_place_of(record),
            )


def _case_of(record: Mapping[str, Any], case_ids: set[str]) -> str:
    if record["case"] not in case_ids:
        raise ValueError(f"the case {record['case']!r} was not asked for")
    return str(record["case"])


def _place_of(record: Mapping[str, Any]) -> dict[str, Any]:
    if record["phase"] not in PHASES:
        raise ValueError(f"the phase {record['phase']!r} is none of {', '.join(PHASES)}")
    return {"phase": PHASES[record["phase"]], "round": int(record["round"]), "burst": int(record["burst"])}


def _durations(record: Mapping[str, Any], member: str) -> tuple[int, ...]:
    values = record[member]
    if not all(isinstance(value, int) and value >= 0 for value in values):
        raise ValueError(f"{member} must be whole numbers, none negative")
    return tuple(values)


def _take_failure(stream: Stream, case_id: str | None, reason: str, case_ids: set[str]) -> None:
    if case_id is None:
        stream.launch_failures.append(reason)
        return
    if case_id not in case_ids:
        raise ValueError(f"the case {case_id!r} was not asked for")
    stream.case_failures.setdefault(case_id, reason)
    stream.last_failed_case_id = case_id
