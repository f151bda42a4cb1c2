"""The engine's stream of JSON lines, read record by record (`docs/engine-output.md`)."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fabriscope.adapters._engine_order import Order
from fabriscope.model.errors import ParseError
from fabriscope.model.foreign import MOST_INT, Foreign, shown
from fabriscope.model.measurement import ARRIVED, OPERATION, RANK_OPERATION, RANK_START, SampleBlock
from fabriscope.model.metrics import unit_of
from fabriscope.model.quantity import Kind

FORMAT = "fabriscope-engine"
NEWEST_VERSION = 1

PHASES = {"warmup": "warmup", "measured": "measure"}
"""The engine's word for a phase, and ours."""

MOST_INT32 = 2**31 - 1
"""What the store's columns of rounds, bursts and ranks hold."""
NOTES_KEPT = 20
_NOTE_CHARACTERS = 1000
_PAIR = re.compile(r"[0-9]{1,9}>[0-9]{1,9}")


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

    def add(self, record: Foreign, operation_count: int) -> None:
        """Take a measured block's account."""
        self.operation_count += operation_count
        if (late := record.get("late_operation_count")) is not None:
            self.late_operation_count += late.whole()
        if (error := record.get("clock_error_ns")) is not None:
            self.clock_error_ns = max(self.clock_error_ns or 0, error.whole())
        if (slowest := record.get("slowest_ranks")) is not None:
            self.slowest_ranks.update(slowest.wholes(most=MOST_INT32))
        if (details := record.get("details")) is not None:
            self.said |= details.mapping()

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


@dataclass(frozen=True)
class OwnMetric:
    """What a benchmark of a plug-in gives: a rate, or a time that is not that of its operation."""

    metric_id: str
    amount_per_operation: int
    """Of a rate how much of what it counts one operation is, of a time how many of them it lasts."""

    def block(self, of: SampleBlock) -> SampleBlock:
        """Return the values of a block of operations; that of a rate of no time is NaN."""
        amount = self.amount_per_operation * of.operations_per_sample
        if unit_of(self.metric_id).kind is Kind.TIME:
            values = [value / amount for value in of.values]
        else:
            values = [amount * 1e9 / value if value > 0 else math.nan for value in of.values]
        return replace(of, quantity=self.metric_id, values=values, operations_per_sample=1)


@dataclass
class Stream:
    """What rank 0 wrote, line by line."""

    header: Mapping[str, Any] | None = None
    footer: Mapping[str, Any] | None = None
    metrics: dict[str, OwnMetric] = field(default_factory=dict)
    """Case id to what its benchmark gives in place of the time of an operation."""
    endpoints: list[Mapping[str, Any]] = field(default_factory=list)
    blocks: list[SampleBlock] = field(default_factory=list)
    order: Order = field(default_factory=Order)
    case_failures: dict[str, str] = field(default_factory=dict)
    launch_failures: list[str] = field(default_factory=list)
    last_failed_case_id: str | None = None
    groups: dict[str, GroupAccount] = field(default_factory=dict)
    """Case id to the account of its measured operations, where several ranks make them."""
    clock_models: list[Mapping[str, Any]] = field(default_factory=list)
    """How the ranks' clocks ran against rank 0's."""
    turns: Mapping[str, object] | None = None
    """What it tells of its turns (`TurnsTaken`); None where it measured alone."""
    pool: Mapping[str, Any] | None = None
    """How large the pools of rotating buffers are; None where no case has any."""
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
            "notes": self.notes,
            "is_torn": self.is_torn,
        }
        for name in ("sent_payload_bytes", "sent_messages"):
            if self.footer and name in self.footer:
                found[name] = self.footer[name]
        if self.groups:
            found["groups"] = {case_id: account.plain() for case_id, account in self.groups.items()}
        if self.turns is not None:
            found["turns"] = dict(self.turns)
        if self.pool is not None:
            found["pool"] = dict(self.pool)
        if self.clock_models:
            found["clock_models"] = [dict(model) for model in self.clock_models]
        return found


def read_stream(stdout: bytes, case_ids: set[str]) -> Stream:
    """Return the engine's stream; raises ParseError for a newer version or a record of an unexpected shape."""
    stream = Stream()
    for record in _records(stdout, stream):
        _take(record, stream, case_ids)
    stream.blocks = [
        stream.metrics[block.case_id].block(block)
        if block.case_id in stream.metrics and block.quantity == OPERATION
        else block
        for block in stream.blocks
    ]
    return stream


def _records(stdout: bytes, stream: Stream) -> Iterator[Foreign]:
    lines = stdout.split(b"\n")
    for line_number, line in enumerate(lines, start=1):
        text = line.decode("utf-8", "replace")
        # A library's half line may stand before a record, where it wrote no line end of its own.
        start = text.find('{"type":')
        found = Foreign.json_at(text, start, f"engine output, line {line_number}") if start >= 0 else None
        if found is None and text and line_number == len(lines):
            stream.is_torn = True
        if (start > 0 or (found is None and text.strip())) and len(stream.notes) < NOTES_KEPT:
            stream.notes.append((text if found is None else text[:start])[:_NOTE_CHARACTERS])
        if found is not None:
            yield found[0]


def _take(record: Foreign, stream: Stream, case_ids: set[str]) -> None:
    kind = record.at("type").value
    stream.order.take(str(kind), record)
    if kind == "header":
        _take_header(record, stream)
    elif kind == "block":
        block = _block(record, case_ids)
        stream.order.take_block(block, record)
        stream.blocks.append(block)
        timing = record.get("timing")
        if timing is not None and block.phase == "measure":
            account = stream.groups.setdefault(block.case_id, GroupAccount(timing.text()))
            account.add(record, len(block.values) * block.operations_per_sample)
    elif kind == "rank_block":
        for share in _rank_blocks(record, stream.order.block, case_ids):
            stream.order.take_share(share, record)
            stream.blocks.append(share)
    elif kind == "stream_block":
        stream.blocks.append(stream.order.take_arrived(_stream_block(record, stream.order.block, case_ids), record))
    elif kind == "turns":
        _take_turns(record, stream)
    elif kind == "failure":
        case = record.get("case")
        case_id = None if case is None else _case_of(case, case_ids)
        _take_failure(stream, case_id, record.at("reason").text())
    elif kind == "verification":
        case_id = _case_of(record.at("case"), case_ids)
        if not record.at("ok").flag():
            reason = record.get("reason")
            why = reason.text() if reason else "what arrived is not what was sent"
            _take_failure(stream, case_id, f"payload verification failed: {why}")
    elif kind == "metric":
        stream.metrics[_case_of(record.at("case"), case_ids)] = _own_metric(record)
    elif kind in ("endpoint", "pool", "clock_model"):
        _take_said(str(kind), record, stream)
    elif kind == "footer":
        _take_footer(record, stream)


def _take_said(kind: str, record: Foreign, stream: Stream) -> None:
    """Take what the engine says of its own set-up."""
    if kind == "endpoint":
        stream.endpoints.append(record.mapping())
    elif kind == "clock_model":
        stream.clock_models.append({name: value for name, value in record.mapping().items() if name != "type"})
    else:
        cache = record.get("last_level_cache_bytes")
        known = None if cache is None else cache.whole()
        stream.pool = {"pool_bytes": record.at("pool_bytes").whole(least=1), "last_level_cache_bytes": known}


def _take_turns(record: Foreign, stream: Stream) -> None:
    names = ("member", "member_count", "turn_ns", "rested_ns", "shared_burst_count")
    turns = [turn.wholes() for turn in record.at("turns").items()]
    if any(len(turn) != len(("cycle", "begin_ns", "end_ns")) for turn in turns):
        raise ParseError("a turn is not a cycle, its begin and its end", where=record.at("turns").where)
    told = {name: record.at(name).whole() for name in names}
    stream.turns = {**told, "turn_count": len(turns), "turns": [list(turn[:2]) for turn in turns]}


def _own_metric(record: Foreign) -> OwnMetric:
    metric_id = record.at("metric_id").text()
    if unit_of(metric_id).kind not in (Kind.TIME, Kind.RATE):
        raise ParseError(f"the metric {shown(metric_id)} is neither a rate nor a time", where=record.where)
    return OwnMetric(metric_id, record.at("amount_per_operation").whole(least=1))


def _take_header(record: Foreign, stream: Stream) -> None:
    if record.at("format").value != FORMAT:
        raise ParseError(f"the format is {shown(record.value['format'])}, not {FORMAT!r}", where=record.where)
    version = record.at("version").whole(least=1)
    if version > NEWEST_VERSION:
        raise ParseError(
            f"the engine speaks version {version}, and we read up to {NEWEST_VERSION}",
            where=record.where,
            fix="use the engine that came with this fabriscope",
        )
    if (ranks := record.get("ranks")) is not None:
        for rank in ranks.items():
            rank.at("rank").whole(most=MOST_INT32)
            rank.at("host").text()
    for path in (("record_cost_ns",), ("clock", "cost_ns")):
        if (cost := record.get(*path)) is not None:
            cost.number(least=0)
    stream.header = record.mapping()


def _take_footer(record: Foreign, stream: Stream) -> None:
    record.at("status").text()
    if (sent := record.get("sent_payload_bytes")) is not None:
        for pair, size in sent.members():
            size.whole()
            if not _PAIR.fullmatch(pair):
                raise ParseError(f"sent_payload_bytes is of {shown(pair)}, and should be of `0>1`", where=record.where)
    if (count := record.get("sent_messages")) is not None:
        count.whole()
    stream.footer = record.mapping()


def _block(record: Foreign, case_ids: set[str]) -> SampleBlock:
    return SampleBlock(
        case_id=_case_of(record.at("case"), case_ids),
        values=record.at("durations_ns").wholes(),
        operations_per_sample=record.at("operations_per_sample").whole(least=1, most=MOST_INT32),
        start_ns=record.at("start_ns").whole(least=-MOST_INT),
        **_place_of(record),
    )


def _rank_blocks(record: Foreign, of: SampleBlock | None, case_ids: set[str]) -> Iterator[SampleBlock]:
    """Yield the share of one rank in the burst of the block before: when it began, and how long it was inside."""
    if of is None:
        raise ParseError("a rank's share stands before the block that it is of", where=record.where)
    for member, quantity in (("start_offsets_ns", RANK_START), ("durations_ns", RANK_OPERATION)):
        if (values := record.get(member)) is not None:
            yield SampleBlock(
                case_id=_case_of(record.at("case"), case_ids),
                values=values.wholes(),
                quantity=quantity,
                operations_per_sample=of.operations_per_sample,
                start_ns=of.start_ns,
                rank=record.at("rank").whole(most=MOST_INT32),
                **_place_of(record),
            )


def _stream_block(record: Foreign, of: SampleBlock | None, case_ids: set[str]) -> SampleBlock:
    """Return what arrived of one stream in the burst of the block before, interval by interval."""
    if of is None:
        raise ParseError("what arrived of a stream stands before the block that it is of", where=record.where)
    return SampleBlock(
        case_id=_case_of(record.at("case"), case_ids),
        values=record.at("arrived_bytes").wholes(),
        quantity=ARRIVED,
        start_ns=of.start_ns,
        rank=record.at("rank").whole(least=1, most=MOST_INT32),
        **_place_of(record),
    )


def _case_of(part: Foreign, case_ids: set[str]) -> str:
    if part.text() not in case_ids:
        raise ParseError(f"the case {shown(part.value)} was not asked for", where=part.where)
    return part.text()


def _place_of(record: Foreign) -> dict[str, Any]:
    phase = record.at("phase").text()
    if phase not in PHASES:
        raise ParseError(f"the phase {shown(phase)} is none of {', '.join(PHASES)}", where=record.where)
    place = {name: record.at(name).whole(most=MOST_INT32) for name in ("round", "burst")}
    return {"phase": PHASES[phase], **place}


def _take_failure(stream: Stream, case_id: str | None, reason: str) -> None:
    if case_id is None:
        stream.launch_failures.append(reason)
        return
    stream.case_failures.setdefault(case_id, reason)
    stream.last_failed_case_id = case_id
