"""A profile as tables and sentences: `fabriscope profile` shows them, and a report of what its launches did in MPI."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fabriscope.analysis.profiles import sums
from fabriscope.analysis.profiles.sums import Pair, Spread
from fabriscope.analysis.words import bytes_text, share_text, size_text, time_text
from fabriscope.model.counting import counted
from fabriscope.model.profile import Profile, RankProfile
from fabriscope.reports.section import Block, Bullets, Column, Heading, Paragraph, Row, Table

MOST_PAIRS = 16
_CALLS = (
    Column("call", "head"), Column("count", "number"), Column("bytes", "number"), Column("of run time", "number"),
    Column("least", "number", "time by rank"), Column("median", "number", "time by rank"),
    Column("most", "number", "time by rank"),
)  # fmt: skip
_SIZES = (Column("message", "head"), Column("count", "number"), Column("bytes", "number"), Column("time", "number"))
_SENT = (Column("from"), Column("to"), Column("messages", "number"), Column("bytes", "number"))
_WAITED = (Column("who"), Column("for whom"), Column("calls", "number"), Column("time", "number"))


def blocks(profile: Profile) -> list[Block]:
    """Return everything that is told of a job."""
    library = profile.library.splitlines()[0].partition(",")[0] if profile.library else "an MPI library"
    title = (
        f"{profile.program}: {counted(profile.rank_count, 'rank')} on {counted(len(profile.hosts), 'host')}, {library}"
    )
    found: list[Block] = [
        Heading(title),
        *summary(profile),
        calls(profile),
        Heading("Messages by size"),
        sizes(profile),
    ]
    sent = sums.sent(profile)
    waited = [pair for pair in sums.waited(profile) if pair.source != pair.target and pair.ns]
    of = "ranks" if profile.rank_count <= sums.MATRIX_RANKS else "hosts"
    if sent:
        found += [Heading(f"Who sends to whom, point to point ({of})"), _pairs(_SENT, sent, _bytes)]
    if waited:
        found += [Heading(f"Who waits for whom ({of})"), _pairs(_WAITED, waited, _time)]
    return found


def summary(profile: Profile) -> list[Block]:
    """Return how long it ran, how much of that was MPI, what a fabric can change, and what is missing."""
    ranks = profile.ranks
    shares = _spread(sums.spread_of(_shares(ranks)), is_share=True)
    words = [
        f"run time by rank: {_spread(sums.spread_of([rank.run_ns for rank in ranks]))}",
        f"in MPI: {share_text(sums.mpi_share(profile))} of it; by rank {shares}",
        _changeable(profile),
        f"counting took {share_text(profile.cost_share)} of the time"
        f" ({max((rank.cost_ns for rank in ranks), default=0.0):.0f} ns a call)",
        *sums.losses(profile),
    ]
    return [Bullets(words)]


def _changeable(profile: Profile) -> str:
    if profile.missing:
        return "what a fabric can change is not told: nobody knows on which hosts the missing ranks were"
    if len(profile.hosts) < 2:
        return "nothing of it is the fabric's: all ranks are on one host"
    return f"a fabric can change at most {share_text(sums.changeable_share(profile))}: calls that concern other hosts"


def _shares(ranks: Sequence[RankProfile]) -> list[float]:
    return [rank.mpi_ns / rank.run_ns if rank.run_ns else 0.0 for rank in ranks]


def _spread(spread: Spread, *, is_share: bool = False) -> str:
    least, middle, most = (share_text(one) if is_share else time_text(one) for one in vars(spread).values())
    return least if least == most else f"{least} to {most}, median {middle}"


def calls(profile: Profile) -> Table:
    """Return the table of calls."""
    rows: list[Row] = [
        [
            one.call,
            str(one.count),
            bytes_text(one.bytes) if one.bytes else "",
            share_text(one.share),
            *(time_text(value) for value in vars(one.ns).values()),
        ]
        for one in sums.by_call(profile)
    ]
    return Table(_CALLS, rows)


def sizes(profile: Profile) -> Table:
    """Return the histogram of message sizes."""
    rows: list[Row] = [
        [_bounds(one.least_bytes, one.most_bytes), str(one.count), bytes_text(one.bytes), time_text(one.ns)]
        for one in sums.by_size(profile)
    ]
    return Table(_SIZES, rows)


def _bounds(least: int, most: int) -> str:
    return size_text(most) if least == most else f"{size_text(least)} to {size_text(most)}"


def _pairs(columns: Sequence[Column], pairs: Sequence[Pair], amount: Callable[[Sequence[Pair]], str]) -> Table:
    """Return a row for each of the first pairs, and one for all others."""
    rows: list[Row] = [[one.source, one.target, str(one.count), amount([one])] for one in pairs[:MOST_PAIRS]]
    others = pairs[MOST_PAIRS:]
    if others:
        rows.append([f"{len(others)} others", "", str(sum(one.count for one in others)), amount(others)])
    return Table(columns, rows)


def _bytes(pairs: Sequence[Pair]) -> str:
    return bytes_text(sum(one.bytes for one in pairs))


def _time(pairs: Sequence[Pair]) -> str:
    return time_text(sum(one.ns for one in pairs))


def nothing(library: str) -> list[Block]:
    """Return what is said where no rank left a profile."""
    return [
        Paragraph(
            f"no rank left a profile: no program came through MPI_Init with {library}, or it holds its MPI library in"
            " itself (linked with -static), or its hosts do not see the folder that profiles are written to"
        )
    ]
