"""What benchmark programs and our engine print, read by readers and adapters, against every number in the text."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from campaigns.fuzz.numbers import Numbers
from campaigns.fuzz.targets import SAMPLES, TEST_DATA, Target

from fabriscope.adapters.base import Adapter
from fabriscope.model.case import Case, Entry, SocketOptions
from fabriscope.model.command import Command, Outcome
from fabriscope.model.errors import FabriscopeError
from fabriscope.model.measurement import Launch, ParsedLaunch
from fabriscope.readers.base import Document, Reader
from fabriscope.readers.work import Work
from fabriscope.registry import discover

DATA = TEST_DATA / "adapters" / "data"
_ADAPTERS = discover("adapters", "ADAPTER")
_READERS = discover("readers", "READER")
FACTORS = {
    "iperf3": (),
    "sockperf": (1e3,),
    "qperf": (1.0,),
    "netpipe": (1e3, (1 << 20) / 8),
    "imb": (1.0, 1e3, 1e6),
    "perftest": (1.0, 1e3, float(1 << 20), 1e9 / 8),
}
"""Instrument to what a printed number is multiplied by."""
_BITS = tuple(10.0**power / 8 for power in (0, 3, 6, 9, 12))
_KIBI = tuple(1024.0**power for power in range(5))
READER_FACTORS = {
    "fabtests": (*_KIBI, 1e3, 1e6, 1e9),
    "iperf2": (*_BITS, *_KIBI),
    "iperf3": (*_BITS, *_KIBI),
    "linktest": (1.0, 1e3, 1e6, 1e9, *_KIBI),
    "nccl": (1e9,),
    "netperf": (*_BITS, *_KIBI, 1e3),
    "netpipe": (*FACTORS["netpipe"], *_BITS, 1.0, 1e9),
    "npb": (1e-9,),
    "ycsb": (1e3, 1e6),
}
"""Likewise, of readers whose columns have no one factor."""
DERIVED = ("communication_percent",)
"""Columns that are computed of several numbers of a text."""
IN_ORDER = (
    *(("latency_ns_least", "latency_ns"), ("latency_ns", "latency_ns_p99"), ("latency_ns_p99", "latency_ns_most")),
    *(("time_ns_least_rank_mean", "time_ns_mean"), ("time_ns_mean", "time_ns_most_rank_mean")),
)
"""Columns of which no row has more in the first than in the second, but for the rounding of times."""


def _launch(instrument: str, spec: Mapping[str, Any]) -> Launch:
    hosts = tuple(spec.get("hosts", ("a", "b")))
    mpi = "mpich-5" if spec["layer"] == "mpi" else None
    entry = Entry(spec["layer"], "gige", "inter", hosts, mpi=mpi, instrument=instrument)
    more = [
        {"socket": SocketOptions(**case.get("socket", {})), "parameters": tuple(map(tuple, case.get("parameters", ())))}
        for case in spec["cases"]
    ]
    cases = tuple(Case(entry, **{**case, **typed}) for case, typed in zip(spec["cases"], more, strict=True))
    return Launch(3, 1, entry, cases, seed=42, budget_ns=2_000_000_000)


def _outcomes(text: bytes, how: Mapping[str, Any]) -> list[Outcome]:
    said = {"stdout": b"", "stderr": b"", how["channel"]: text}
    program = Outcome(Command(("program",), "a"), how["exit_status"], said["stdout"], said["stderr"], 0, 0)
    server = Outcome(Command(("program",), "b", is_server=True), None, b"", b"", 0, 0)
    return [server, program] if how["server_first"] else [program]


def _foreign(instrument: str) -> Target:
    """Return an adapter as a target: every launch of its golden pairs is asked about each text."""
    pairs = sorted((DATA / instrument).glob("*.json"))
    specs = [json.loads(path.read_text()) for path in pairs]
    asked = {json.dumps([spec["layer"], spec["cases"], spec.get("hosts"), spec["outcome"]]): spec for spec in specs}
    launches = [(_launch(instrument, spec), spec["outcome"]) for spec in asked.values()]
    adapter = _ADAPTERS.get(instrument)

    def check(text: bytes) -> bool:
        with read_once():
            parsed = parsed_of(adapter, [(launch, _outcomes(text, how)) for launch, how in launches])
        for launch, answer in parsed:
            check_shape(answer, launch)
            check_numbers(answer, launch, text, FACTORS[instrument])
        return any(answer.blocks for _, answer in parsed)

    return Target(instrument, lambda: _texts(DATA / instrument), check)


@contextmanager
def read_once() -> Iterator[None]:
    """Let readers give the same document for the same text while the block lasts: many launches ask about one text."""
    known: dict[tuple[str, str], Document] = {}
    read = Reader.read

    def again(reader: Reader, text: str, work: Work | None = None) -> Document:
        place = reader.name, text
        if place not in known:
            known[place] = read(reader, text, work)
        return known[place]

    with mock.patch.object(Reader, "read", again):
        yield


def _texts(*folders: Path) -> Iterator[bytes]:
    yield from (path.read_bytes() for folder in folders for path in sorted(folder.glob("*.txt")))


def parsed_of(adapter: Adapter, asked: Iterable[tuple[Launch, list[Outcome]]]) -> list[tuple[Launch, ParsedLaunch]]:
    """Return each launch with its samples; raises what is no error of ours, and ours where no sample is."""
    problem: Exception | None = None
    parsed = []
    for launch, outcomes in asked:
        try:
            parsed.append((launch, adapter.parse(launch, outcomes)))
        except Exception as error:
            if problem is None or not isinstance(error, FabriscopeError):
                problem = error
    if problem and not (isinstance(problem, FabriscopeError) and any(answer.blocks for _, answer in parsed)):
        raise problem
    return parsed


def check_shape(parsed: ParsedLaunch, launch: Launch) -> None:
    known = {case.case_id for case in launch.cases}
    assert {result.case_id for result in parsed.results} == known, "a case has no result, or a stranger has one"
    assert {block.case_id for block in parsed.blocks} <= known, "a value of a case that was not asked for"
    measured = {result.case_id for result in parsed.results if result.status == "ok"}
    assert {block.case_id for block in parsed.blocks} <= measured, "a value of a case that failed"


def check_numbers(parsed: ParsedLaunch, launch: Launch, text: bytes, factors: Sequence[float]) -> None:
    """Check that each value is a printed number in its unit, or follows from one by the size of its message."""
    numbers, sizes = Numbers(text), {case.case_id: case.message_size_bytes for case in launch.cases}
    for block in parsed.blocks:
        for value in map(float, block.values):
            assert numbers.explain(value, sizes[block.case_id], factors), f"{value} stands nowhere in the text"


def _engine() -> Target:
    """Return the engine's stream as a target; every whole number of a block must stand in the text."""
    from fabriscope.adapters.engine import ADAPTER

    ids = ("case0", "case1")

    class Asked(Case):
        """A case with the id that a recorded stream has."""

        @property
        def case_id(self) -> str:
            return ids[0] if self.message_size_bytes == 8 else ids[1]

    def launch_of(layer: str, hosts: str) -> Launch:
        entry = Entry(layer, "gige", "inter" if len(set(hosts)) > 1 else "intra", tuple(hosts))
        cases = tuple(Asked(entry, "ping_pong", size) for size in (8, 16))
        return Launch(1, 1, entry, cases, seed=42, budget_ns=2_000_000_000)

    launches = [launch_of("tcp", "ab"), launch_of("tcp", "aa"), launch_of("mpi", "ab"), launch_of("mpi", "abc")]

    def seeds() -> Iterator[bytes]:
        for path in sorted((DATA / "engine").glob("*.stdout")):
            text = path.read_bytes()
            found = sorted(set(re.findall(rb'"case":"([^"]+)"', text)))
            for place, name in enumerate(found[:2]):
                text = text.replace(b'"' + name + b'"', b'"' + ids[place].encode() + b'"')
            yield text

    def check(text: bytes) -> bool:
        numbers = {int(token) for token in re.findall(rb"-?[0-9]{1,30}", text)}
        outcome = Outcome(Command(("engine",), "a"), 0, text, b"", 0, 0)
        parsed = parsed_of(ADAPTER, [(launch, [outcome] * len(launch.entry.hosts)) for launch in launches])
        for _, answer in parsed:
            for block in answer.blocks:
                assert block.case_id in ids, "a value of a case that was not asked for"
                assert {*block.values, block.operations_per_sample, block.start_ns} <= numbers, "a number from nowhere"
        return any(answer.blocks for _, answer in parsed)

    return Target("engine", seeds, check)


def _reader(name: str) -> Target:
    """Return a reader as a target: every number of a document must stand in the text, or follow from one that does."""
    reader = _READERS.get(name)
    folders = (TEST_DATA / "readers" / "data" / name, DATA / name, SAMPLES / name, SAMPLES / "logs" / name)

    def check(text: bytes) -> bool:
        document = reader.read(text.decode("utf-8", "replace"))
        numbers = Numbers(text)
        for table in document.tables:
            names = {column.name: column for column in table.columns}
            assert len(names) == len(table.columns), "two columns have one name"
            for row in table.rows:
                assert set(row.values) <= set(names), "a value of no column"
                for less, more in IN_ORDER:
                    rounding = max(10, names[less].factor / 2) if less in names else 0  # of a whole millisecond
                    most = row.number(more)
                    limit = most * (1 + 1e-9) + rounding if most else math.inf  # 0: it could not tell
                    assert not row.number(less) > limit, f"{less} is more than {more}"
                for column, value in row.values.items():
                    if column not in DERIVED and not isinstance(value, str) and math.isfinite(value):
                        factors = (names[column].factor, *READER_FACTORS.get(name, FACTORS.get(name, ())))
                        size = int(row.values.get("message_size_bytes", 0))
                        is_known = numbers.explain(abs(value), size, factors)
                        is_known = is_known or (column == "duration_s" and numbers.differ_by(value))
                        assert is_known, f"{value} of {column} stands nowhere in the text"
        if not document.rows():
            document.check(name)
        return bool(document.rows())

    return Target(f"read-{name}", lambda: _texts(*folders), check)


TARGETS = (*(_foreign(name) for name in FACTORS), *(_reader(name) for name in sorted(_READERS.plugins)), _engine())
