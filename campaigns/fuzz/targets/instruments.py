"""What instruments with several commands in a launch print: OSU, YCSB, TestDFSIO, HPL, NAS, rping, perftest."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from campaigns.fuzz.targets import SAMPLES, TEST_DATA, Target
from campaigns.fuzz.targets.programs import check_numbers, check_shape, parsed_of, read_once
from tests.adapters import test_application_programs as applications
from tests.adapters import test_foreign as foreign
from tests.adapters import test_osu as osu
from tests.adapters import test_perftest_streams as streams
from tests.adapters import test_rping as rping
from tests.adapters import test_testdfsio as dfsio
from tests.adapters import test_ycsb as ycsb

from fabriscope.adapters.base import Adapter
from fabriscope.model.command import Command, Outcome
from fabriscope.model.measurement import ARRIVED, RANK_START, Launch
from fabriscope.registry import discover

_ADAPTERS = discover("adapters", "ADAPTER")
_READ = TEST_DATA / "readers" / "data"
DERIVED = (
    "linpack_of_peak_percent",
    "linpack_of_dgemm_percent",
    "linpack_of_single_dgemm_percent",
    "communication_percent",
    "rdma_ping_time_ns_mean",
    "hdfs_bandwidth_bytes_per_s",
    "computing_percent",
    ARRIVED,
    RANK_START,
)
"""Quantities that are computed of several numbers, or of times that no program printed."""
Asked = Sequence[tuple[Launch, Callable[[bytes], list[Outcome]]]]


def _target(name: str, seeds: Callable[[], Iterable[bytes]], asked: Asked, factors: Sequence[float]) -> Target:
    adapter: Adapter = _ADAPTERS.get(name)

    def check(text: bytes) -> bool:
        with read_once():
            answers = parsed_of(adapter, [(launch, outcomes(text)) for launch, outcomes in asked])
        for launch, answer in answers:
            check_shape(answer, launch)
            printed = tuple(block for block in answer.blocks if block.quantity not in DERIVED)
            check_numbers(replace(answer, blocks=printed), launch, text, factors)
        return any(answer.blocks for _, answer in answers)

    return Target(name, seeds, check)


def _files(*places: str) -> Iterator[bytes]:
    for place in places:
        for path in sorted([*TEST_DATA.glob(place), *SAMPLES.glob(place)]):
            yield path.read_bytes()


def _one(text: bytes) -> list[Outcome]:
    return [Outcome(Command(("program",), "a"), 0, text, b"", 0, 10**12)]


def _osu() -> Target:
    sizes = (1, 2, 4, 8, 16, 1024)
    cases = (
        [osu.of("ping_pong", size) for size in sizes],
        [osu.of("bandwidth", size, window=64) for size in sizes],
        [osu.of("allreduce", size) for size in (4, 8, 16)],
        [osu.of("barrier")],
    )
    asked = [(osu.launch(*some, ranks="abcd" if place > 1 else "ab"), _one) for place, some in enumerate(cases)]
    return _target("osu", lambda: _files("readers/data/osu/*.txt", "omb74/*.txt"), asked, (1e3, 1e6))


def _services() -> Iterator[Target]:
    def of_client(text: bytes) -> list[Outcome]:
        return dfsio.outcomes(dfsio.client(text))

    yield _target("testdfsio", lambda: [dfsio.said_of(dfsio.ALL)], [(dfsio.ALL, of_client)], (1e6, 1e9, 1 << 20))
    yield _target("ycsb", lambda: [ycsb.said_of(ycsb.ALL)], [(ycsb.ALL, ycsb.outcomes)], (1e3, 1e6))


def _applications() -> Iterator[Target]:
    def of_size(n: str, nb: str, rows: str, columns: str) -> Launch:
        told = {**applications.HPL_TOLD, "n": n, "nb": nb, "rows": rows, "columns": columns}
        return applications.launch("hpl", ("hpl", told), ranks=int(rows) * int(columns))

    asked = [(of_size("1000", "64", "1", "2"), _one), (of_size("6000", "192", "1", "2"), _one)]
    texts = ("adapters/application_data/*.txt", "readers/data/hpl/*.txt")
    yield _target("hpl", lambda: _files(*texts), asked, (1e9, 1e6, 1e3))
    names = ("ft", "mg", "cg", "is")
    repeats = {"repeats": "2", "time_limit_s": "60"}
    kernels = [applications.launch("npb", (f"nas_{name}_s", repeats)) for name in names]
    yield _target("npb", lambda: _kernels(names), [(one, _one) for one in kernels], (1e6,))


def _kernels(names: Sequence[str]) -> Iterator[bytes]:
    """Yield what each kernel says, apart, and the other programs' texts."""
    for text in _files("readers/data/npb/ours*.txt"):
        lines = text.splitlines(keepends=True)
        yield from (b"".join(line for line in lines if b'"%s"' % name.encode() in line) for name in names)
    yield from _files("readers/data/npb/*.txt")


def _rping() -> Target:
    def outcomes_of(asked: Launch) -> Callable[[bytes], list[Outcome]]:
        """Return answers of which those of one ping say the text, those of many its end."""
        every = [rping.answered(command) for command in rping.commands_of(asked)]
        return lambda text: [replace(one, stdout=text) if b"ping data" in one.stdout else one for one in every]

    launches = [foreign.launch("rping", "verbs", foreign.ping_pong(size)) for size in (64, 4096)]
    seeds = (rping.pinged(64), rping.pinged(64), rping.pinged(4096), *_files("adapters/data/rping/*"))
    return _target("rping", lambda: seeds, [(one, outcomes_of(one)) for one in launches], ())


def _streams() -> Iterator[Target]:
    for name, adapter in streams.ADAPTERS.items():
        asked = streams.two_to_one(name, duration_ms="300")
        commands = adapter.commands(asked, streams.PLACE)

        def outcomes(text: bytes, commands: tuple[Command, ...] = commands) -> list[Outcome]:
            began = [0, 0, 10 * streams.S, 10 * streams.S]
            return [
                Outcome(command, None if command.is_server else 0, text, b"", start, 11 * streams.S)
                for command, start in zip(commands, began, strict=True)
            ]

        def seeds() -> Iterator[bytes]:
            yield from [streams.TEXT.encode()] * 8
            yield from _files("adapters/data/perftest/*_bw*.txt")

        yield _target(name, seeds, [(asked, outcomes)], (1 << 20, 1e6, 1e9))


TARGETS = (_osu(), *_services(), *_applications(), _rping(), *_streams())
