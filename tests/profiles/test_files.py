"""The files of ranks: what they say, and what is refused of those that are damaged."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import pytest

from fabriscope.model import profile_file
from fabriscope.model.errors import ParseError, StoreError
from fabriscope.model.profile import CUT, FINALIZED
from fabriscope.store import profiles

NAMES = ("MPI_Send", "MPI_Recv", "MPI_Alltoall", "MPI_Waitall")
NOBODY, ANYBODY = 0xFFFFFFFF, 0xFFFFFFFE


def image(
    rank: int, entries: list[tuple[int, int, int, int, int, int]], *, host: str = "a", state: int = 1, started: int = 5
) -> bytes:
    """Return a file as engine/profile writes it: entries are call, class, who, count, bytes, ticks of 0.5 ns."""
    groups = [(3, (0, 1, 2)), (1, (rank,))]
    numbers = (600 + 8, len(NAMES), len(groups), 10, state, rank, 3, len(groups), len(entries), 0)
    more = (started, 9, 100, 1000, 300, 1100, 200, 2200, 0, 0, 0, 0, 0, 2048)
    packed = struct.pack("=8s10I14Q64s256s128s", b"fabprof1", *numbers, *more, host.encode(), b"/x/app", b"Open MPI v5")
    assert len(packed) == numbers[0]
    body = b"".join(name.encode().ljust(32, b"\0") for name in NAMES)
    for size, members in groups:
        body += struct.pack("=IIQ60I", size, len(members), 1, *members, *[0] * (60 - len(members)))
    for call, size_class, who, count, size, ticks in entries:
        key = 1 << 63 | call << 40 | size_class << 32 | who
        body += struct.pack("=4Q", key, count, size, ticks)
    return packed + body


SENDS = [
    (0, 4, 1, 2, 16, 100),
    (0, 0, NOBODY, 1, 0, 2),
    (2, 11, 0, 1, 3 * 1024, 20),
    (2, 0, 1, 1, 0, 0),
    (3, 0, NOBODY, 5, 0, 60),
]


def test_what_is_written_is_read_and_hosts_tell_whom_calls_concern() -> None:
    files = [*profile_file.read(image(0, SENDS) + image(1, [(1, 4, ANYBODY, 1, 8, 4)], host="b", state=0), "x")]
    (job,) = profile_file.jobs([*files, *profile_file.read(image(2, [], host="a"), "y")])
    first, second, _ = job.ranks
    assert (job.rank_count, job.missing, job.hosts, job.ranks_per_host) == (3, 0, ("a", "b"), 2)
    assert (first.run_ns, first.cost_ns, first.end, second.end) == (1000, 1.0, FINALIZED, CUT)
    told = [
        (part.call, part.where, part.peer, part.count, part.bytes, part.ns, part.ranks, part.hosts)
        for part in first.parts
    ]
    assert told == [
        ("MPI_Send", "hosts", 1, 2, 16, 50, None, None),
        ("MPI_Send", "self", None, 1, 0, 1, None, None),
        ("MPI_Alltoall", "hosts", None, 1, 3072, 10, 3, 2),
        ("MPI_Alltoall", "self", None, 1, 0, 0, 1, 1),
        ("MPI_Waitall", "unknown", None, 5, 0, 30, None, None),
    ]
    assert first.parts[2].message_bytes == 1024
    assert second.parts[0].where == "unknown"


def test_a_rank_that_is_missing_leaves_open_where_others_calls_went() -> None:
    (job,) = profile_file.jobs(profile_file.read(image(0, SENDS), "x"))
    assert job.missing == 2
    assert [part.where for part in job.ranks[0].parts] == ["unknown", "self", "unknown", "self", "unknown"]


def test_jobs_that_follow_each_other_are_told_apart() -> None:
    files = [
        one
        for started in (7, 5)
        for rank in range(3)
        for one in profile_file.read(image(rank, SENDS, started=started), "x")
    ]
    assert [(job.started_unix_ns, len(job.ranks)) for job in profile_file.jobs(files)] == [(5, 3), (7, 3)]


def test_damaged_files_are_refused_in_a_sentence_and_nothing_else_happens() -> None:
    whole, chance = image(1, SENDS), random.Random(7)
    for length in range(0, len(whole), 13):
        with pytest.raises(ParseError):
            profile_file.read(whole[:length], "x")
    for _ in range(3000):
        changed = bytearray(whole)
        for _ in range(chance.randint(1, 4)):
            changed[chance.randrange(len(changed))] = chance.randrange(256)
        try:
            for job in profile_file.jobs(profile_file.read(bytes(changed), "x")):
                assert job.condensed().ranks
        except ParseError:
            pass


def test_what_is_kept_is_read_again(tmp_path: Path) -> None:
    jobs = profile_file.jobs(profile_file.read(image(0, SENDS), "x"))
    path = tmp_path / "profile.json"
    path.write_text(profiles.text_of(jobs))
    assert list(profiles.read(path)) == jobs
    for text, says in (("{}", "format"), ('{"format":"x","version":1,"jobs":[]}', "no profile"), ("[", "no JSON")):
        path.write_text(text)
        with pytest.raises(StoreError, match=says):
            profiles.read(path)
    path.write_text(profiles.text_of([replace(jobs[0], rank_count=0)]))
    with pytest.raises(StoreError, match="damaged"):
        profiles.read(path)
