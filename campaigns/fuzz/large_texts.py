"""Logs as large as `fabriscope read` accepts, of every program: well-formed ones, and what means harm."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from campaigns.fuzz.large_rows import ROWS
from campaigns.fuzz.mutated import chance_of
from campaigns.fuzz.targets import SAMPLES, TEST_DATA

MOST_BYTES = 16 << 20


def well_formed(name: str, most_bytes: int = MOST_BYTES, most_rows: int | None = None) -> bytes:
    """Return a log with as many rows as fit."""
    head, row, tail = ROWS[name]
    left = most_bytes - len(head) - len(tail)
    parts = []
    for number in itertools.islice(itertools.count(1), most_rows):
        part = row(number)
        left -= len(part)
        if left < 0:
            break
        parts.append(part)
    return "".join([head, *parts, tail]).encode()


def iperf3_report(interval_count: int, stream_count: int = 1) -> bytes:
    """Return a report of iperf3 with so many intervals."""
    one = '{"socket":5,"start":0,"end":1,"seconds":1.0,"bytes":1000,"bits_per_second":8000.5,"omitted":false}'
    interval = '{"streams":[' + ",".join([one] * stream_count) + f'],"sum":{one}}}'
    total = '{"start":0,"end":1,"seconds":1,"bytes":1000,"bits_per_second":8000}'
    intervals = ",\n".join([interval] * interval_count)
    end = f'"end":{{"sum_sent":{total},"sum_received":{total}}}'
    text = f'{{"start":{{"version":"iperf 3.12"}},"intervals":[{intervals}],{end}}}\n'
    return text.encode()


def _json(inside: Iterable[str]) -> bytes:
    text = ",".join(itertools.islice(inside, MOST_BYTES // 2))[: MOST_BYTES - 200]
    return f'{{"sum_received":1,"x":[{text.rpartition(",")[0]}],"average_bus_bandwidth":1}}\n'.encode()


def texts_of(program: str) -> list[bytes]:
    """Return the texts that a program's reader is tested with, and real ones where they are at hand."""
    data = TEST_DATA / "readers" / "data" / program
    folders = (data, TEST_DATA / "adapters" / "data" / program, SAMPLES / program, SAMPLES / "logs" / program)
    files = [
        path for folder in folders for path in sorted(folder.glob("*")) if path.is_file() and path.suffix != ".json"
    ]
    return [path.read_bytes() for path in files if path.stat().st_size]


def harmful() -> dict[str, Callable[[], bytes]]:
    """Return texts that mean harm, whoever reads them."""
    known = sorted(path.name for path in (TEST_DATA / "readers" / "data").iterdir())
    every = b"".join(texts_of(name)[0] for name in known)
    words = (
        b"OSU #bytes Tests TestDFSIO MB/sec HPCG-Benchmark HPLinpack Begin of busbw RESULT: --> sec Bytes "
        b"TEST to NAS Parallel lat: ping data: rdma-ping- sockperf # iterations | OVERALL # Benchmarking \n"
    )
    ranks = b"".join(b"[rank %d] x\n" % rank for rank in range(64))
    return {
        "nothing but line ends": lambda: b"\n" * MOST_BYTES,
        "nothing but carriage returns": lambda: b"\r" * MOST_BYTES,
        "nothing but blanks": lambda: b" " * MOST_BYTES,
        "one line of digits": lambda: b"1" * MOST_BYTES,
        "lines of two characters": lambda: b"1\n" * (MOST_BYTES // 2),
        "prose": lambda: (b"the quick brown fox jumps over the lazy dog\n" * (MOST_BYTES // 44 + 1))[:MOST_BYTES],
        "every program's words in each line": lambda: (words * (MOST_BYTES // len(words) + 1))[:MOST_BYTES],
        "every program's log again and again": lambda: (every * (MOST_BYTES // len(every) + 1))[:MOST_BYTES],
        "64 ranks and long lines of none": lambda: (ranks + b"y" * 100 + b"\n") * (MOST_BYTES // (len(ranks) + 101)),
        "64 ranks of OSU": lambda: b"".join(
            b"[rank %d] %s" % (number % 64, line)
            for number, line in enumerate(well_formed("osu", MOST_BYTES // 2).splitlines(keepends=True))
        )[:MOST_BYTES],
        "escape sequences": lambda: b"\x1b[1" * (MOST_BYTES // 3),
        "one sign outside of ASCII": lambda: well_formed("osu", MOST_BYTES - 8) + "\U0001f600\n".encode(),
        "JSON of empty lists": lambda: _json(itertools.repeat("[]")),
        "JSON of small objects": lambda: _json(itertools.repeat('{"a":1.5}')),
        "JSON of numbers": lambda: _json(itertools.repeat("1.5")),
        "JSON of different keys": lambda: (
            b'{"sum_received":1,%s,"a1":2}\n' % ",".join(f'"a{number}":1' for number in range(700_000)).encode()
        ),
        "JSON of one text": lambda: b'{"sum_received":"' + b"x" * (MOST_BYTES - 30) + b'"}\n',
        "JSON of deep lists": lambda: b'{"sum_received":' + b"[" * (MOST_BYTES // 2),
        "JSON of iperf3": lambda: iperf3_report(70_000),
        "netperf's settings": lambda: (
            b"THROUGHPUT=1\nTHROUGHPUT_UNITS=10^6bits/s\n"
            + b"".join(b"KEY_%d=1\n" % number for number in range(110_000))
        ),
    }


def stretched(text: bytes, chance: random.Random) -> bytes:
    """Return a text of up to 16 MiB: some lines again and again, longer, with growing numbers, or all of it again."""
    lines = text.splitlines(keepends=True) or [b"\n"]
    size = chance.choice((1 << 20, 4 << 20, MOST_BYTES))
    kind = chance.randrange(6)
    if kind == 0:
        return (text * (size // len(text) + 1))[:size]
    at = chance.randrange(len(lines))
    end = min(at + chance.choice((1, 1, 1, 2, 3, 8)), len(lines))
    part = b"".join(lines[at:end])
    if kind == 1 or not part.strip():
        middle = part * (size // max(len(part), 1))
    elif kind == 2:  # a number in it grows
        digits = [place for place, byte in enumerate(part) if 48 <= byte <= 57] or [0]
        place = chance.choice(digits)
        middle = b"".join(
            part[:place] + b"%d" % number + part[place + 1 :] for number in range(size // (len(part) + 6))
        )
    elif kind == 3:  # a character of it again and again, up to the longest line that is read
        place = chance.randrange(len(part))
        run = part[place : place + chance.choice((1, 1, 2, 5))] * chance.choice((50, 400, 900))
        longer = part[:place] + run[: chance.choice((200, 900, 990))] + part[place:]
        middle = longer * (size // len(longer))
    elif kind == 4:  # one line as long as it may be
        place = chance.randrange(len(part))
        run = part[place : place + chance.choice((1, 2, 7))]
        middle = part[:place] + run * (size // len(run)) + part[place:]
    else:  # each line of a rank
        tagged = [b"[rank %d] " % (number % 64) + line for number, line in enumerate(lines)]
        return b"".join(
            itertools.islice(itertools.cycle(tagged), size // max(1, sum(map(len, tagged)) // len(tagged)))
        )[:size]
    return b"".join((*lines[:at], middle, *lines[end:]))[:MOST_BYTES]


def random_texts(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield names and texts, the same for the same seed."""
    programs = sorted(path.name for path in (TEST_DATA / "readers" / "data").iterdir())
    found = {program: texts_of(program) for program in programs}
    others = [path.read_bytes() for path in sorted(Path(SAMPLES).rglob("*")) if path.is_file() and path.stat().st_size]
    for number in range(count):
        chance = chance_of("large", seed, number)
        program = chance.choice(programs)
        text = chance.choice(others) if others and chance.random() < 0.3 else chance.choice(found[program])
        yield f"{program} {seed} {number}", stretched(text, chance)
